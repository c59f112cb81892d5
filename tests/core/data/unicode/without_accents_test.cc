#include "core/data/unicode/characters.h"
#include "tests/support/catch.h"

using mlopt::unicode::without_accents;

TEST_CASE("letters lose their accents, composed or not") {
  CHECK(without_accents(U"\u00c9cole na\u00efve cafe\u0301 \u1ec1") == U"Ecole naive cafe e");
  CHECK(without_accents(U"\u00f8\u0142") == U"\u00f8\u0142");  // strokes are no accents
  CHECK(without_accents(U"\u304c") == U"\u304b");
  CHECK(without_accents(U"\ud55c\uac00") == U"\u1112\u1161\u11ab\u1100\u1161");
  CHECK(without_accents(U"\uf900\U0002f800\U0002fa1d") == U"\u8c48\u4e3d\U0002a600");
  CHECK(without_accents(U"\u0bca\u0344").size() == 2);
  CHECK(without_accents(U"\U0001d160") == U"\U0001d158\U0001d165\U0001d16e");
  CHECK(without_accents(U"").empty());
}

TEST_CASE("marks that take space stand in canonical order") {
  CHECK(without_accents(U"a\u302e\u1715") == U"a\u1715\u302e");        // classes 224 and 9
  CHECK(without_accents(U"a\u302e\u0301\u1715") == U"a\u1715\u302e");  // one between them that goes
  CHECK(without_accents(U"a\u302e\u034f\u1715") == U"a\u302e\u1715");  // one that nothing moves across
  CHECK(without_accents(U"\u302e"
                        U"b\u1715") ==
        U"\u302e"
        U"b\u1715");
}
