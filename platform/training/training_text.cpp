// SPDX-License-Identifier: Apache-2.0
#include "training/data_source.h"

namespace wafervp::training {

// Written for this program: small letters, commas, full stops, spaces and ends of lines.
const std::string& training_text() {
  static const std::string kText =
      R"(the mill stood at the bend of the river, where the water was slow in summer and loud in spring.
the miller had two wheels. the first wheel was old and made of oak, and it turned when the river was high.
the second wheel was small and made of iron, and it turned even when the river was low.
every morning the miller walked to the water and looked at the stones. when three stones were dry, he
opened the gate of the small wheel. when no stone was dry, he opened the gate of the old wheel.
when the rain came in the night, he opened both gates and the mill sang until the evening.

a young woman from the village brought grain to the mill. she asked the miller why he kept the old wheel,
which was slow to start and hard to mend. the miller said that the old wheel gave the most flour in spring.
she asked him why he kept the small wheel, which gave so little. the miller said that the small wheel gave
flour in every month, and that bread is eaten in every month. the young woman laughed and went home.

in the winter the river froze, and both wheels stood still. the miller mended the teeth of the old wheel
and oiled the axle of the small wheel. he counted the sacks in the store, and he wrote the number of the
sacks on the wall with a piece of chalk. there were forty sacks in the first week, and thirty sacks in the
second week, and twenty sacks in the third week. in the fourth week the ice broke, and the water came down
from the hills with branches and stones and the foam of the melting snow.

the miller ran to the gates. the old wheel groaned, and then it turned. the small wheel hummed, and then it
turned too. the stones began to grind, and the flour ran down into the sacks like the sand in a glass.
the young woman came with her brothers and with a cart, and they carried the grain in and the flour out
until the moon stood over the roof of the mill. then they sat by the water and ate warm bread.

the brothers asked the miller what he had done in the long winter, when no wheel had turned. the miller
said that he had listened. when the wheels turn, he said, i hear the wheels. when the wheels stand, i hear
the river under the ice, and the river tells me when it will come. first it is quiet, and then it knocks,
and then it sings, and on the day after it sings the ice will break. this year it sang on a monday.

the young woman wrote down what the miller had said. she wrote that the river knocks and then sings, and
that the ice breaks on the day after. in the next winter she went to the water every day and listened.
when the river was quiet, she went home. when the river knocked, she told the village to bring the grain.
when the river sang, she opened the gates, and on the day after the water came, and the wheels turned.

the miller was old now, and he sat in the sun by the door of the mill. he heard the old wheel groan, and he
heard the small wheel hum, and he was glad. the young woman brought him the first bread of the spring.
he asked her why she kept the old wheel. she said that the old wheel gave the most flour in spring.
he asked her why she kept the small wheel. she said that bread is eaten in every month.
the miller laughed, and they sat by the water, where the river was loud, and ate the warm bread.
)";
  return kText;
}

}  // namespace wafervp::training
