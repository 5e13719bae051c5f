// Prints the table of docs/guide/sound.md: how many of twenty sounds get through each condition.
import { CONDITIONS, tried } from '../test/sound/conditions.ts';

const TRIES = 20;
const rows = [['Between speaker and microphone', '`fast`', '`normal`']];
let wrong = 0;
for (const condition of CONDITIONS) {
  const results = [await tried(condition, 'fast', TRIES), await tried(condition, 'normal', TRIES)];
  wrong += results.reduce((sum, result) => sum + result.wrong, 0);
  rows.push([condition.name, ...results.map(({ heard }) => `${heard} of ${TRIES}`)]);
}
const [head = [], ...body] = rows;
process.stdout.write(
  [head, head.map(() => '---'), ...body].map((row) => `| ${row.join(' | ')} |\n`).join('') + `\nWrong ids: ${wrong}\n`,
);
