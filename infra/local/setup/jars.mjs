// Jars by their SHA-256: a file of lines as `sha256sum` writes them, with paths as in every Maven repository.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { SetupError } from './say.mjs';

const AT_ONCE = 6;

/** @param {string} file @returns {{ hash: string, at: string }[]} `at` is a path below a repository */
const listed = (file) =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const [hash = '', at = ''] = line.split('  ');
      return { hash, at };
    });

function compare(list, { hash, at }, content) {
  const found = createHash('sha256').update(content).digest('hex');
  if (found !== hash)
    throw new SetupError(
      `${at} has the SHA-256 ${found}, and ${list} says ${hash}: the file is damaged or was replaced. It is not used.`,
    );
}

/**
 * Fetches every jar of a list, without Maven.
 * @param {string} list
 * @param {string} repository a URL
 * @param {string} folder is made
 * @throws SetupError if one is not there, or is another one
 */
export async function fetchListed(list, repository, folder) {
  const root = repository.replace(/\/?$/, '/');
  if (!/^https?:\/\/[^/]/.test(repository))
    throw new SetupError(
      `MAVEN_REPOSITORY is "${repository}", and must be a URL that starts with https:// or http://.`,
    );
  mkdirSync(folder, { recursive: true });
  const waiting = listed(list);
  const fetchSome = async () => {
    for (let jar = waiting.pop(); jar; jar = waiting.pop()) {
      const url = new URL(jar.at, root);
      const fail = (problem) => {
        throw new SetupError(
          `${url.href}: ${problem}. MAVEN_REPOSITORY must be the URL below which a repository has ${jar.at}.`,
        );
      };
      const response = await fetch(url).catch((error) => fail(error.cause?.message ?? error.message));
      if (!response.ok) fail(`status ${response.status}`);
      const content = Buffer.from(await response.arrayBuffer());
      compare(list, jar, content);
      writeFileSync(path.join(folder, path.basename(jar.at)), content);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, fetchSome));
}

/**
 * @param {string} list
 * @param {string} folder of what was fetched otherwise
 * @throws SetupError if a file is not in the list, or is another one
 */
export function compareWithList(list, folder) {
  const known = new Map(listed(list).map((jar) => [path.basename(jar.at), jar]));
  for (const name of readdirSync(folder)) {
    const jar = known.get(name);
    if (!jar) throw new SetupError(`${list} lacks ${name}. CONTRIBUTING.md says how to write it.`);
    compare(list, jar, readFileSync(path.join(folder, name)));
  }
}
