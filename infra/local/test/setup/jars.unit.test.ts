import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const { compareWithList, fetchListed } = (await import(path.join(ROOT, 'infra/local/setup/jars.mjs'))) as {
  compareWithList: (list: string, folder: string) => void;
  fetchListed: (list: string, repository: string, folder: string) => Promise<void>;
};

describe('infra/kafka/jars.sha256', () => {
  const jars = readFileSync(path.join(ROOT, 'infra/kafka/jars.sha256'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const [hash = '', at = ''] = line.split('  ');
      return { hash, at };
    });
  const pom = readFileSync(path.join(ROOT, 'infra/kafka/pom.xml'), 'utf8');
  const dependencies = [...pom.matchAll(/<dependency>[^]*?<\/dependency>/g)].map(([text]) => {
    const [group = '', artifact = '', version = ''] = ['groupId', 'artifactId', 'version'].map(
      (name) => new RegExp(`<${name}>(.*?)</${name}>`).exec(text)?.[1],
    );
    return { group, at: `${group.replaceAll('.', '/')}/${artifact}/${version}/${artifact}-${version}.jar`, version };
  });

  it('has a path and a SHA-256 on each line, each file name once', () => {
    for (const jar of jars) {
      expect(jar.hash).toMatch(/^[0-9a-f]{64}$/);
      expect(jar.at).toMatch(/^[\w./-]+\.jar$/);
    }
    expect(new Set(jars.map(({ at }) => path.basename(at))).size).toBe(jars.length);
  });

  it('has what the POM names, in its versions, and of Kafka no other version', () => {
    expect(dependencies.length).toBeGreaterThan(1);
    expect(jars.map(({ at }) => at)).toEqual(expect.arrayContaining(dependencies.map(({ at }) => at)));
    const kafka = dependencies.find(({ group }) => group === 'org.apache.kafka')?.version ?? '';
    const ofKafka = jars.filter(({ at }) => at.startsWith('org/apache/kafka/'));
    expect(ofKafka.filter(({ at }) => !at.endsWith(`-${kafka}.jar`))).toEqual([]);
  });
});

describe('the jars of a list', () => {
  const contents: Readonly<Record<string, string>> = {
    'org/one/1/one-1.jar': 'first',
    'org/two/1/two-1.jar': 'second',
  };
  const served = new Map<string, string>();
  let repository: Server;
  let url: string;
  let folder: string;
  let list: string;

  beforeAll(async () => {
    repository = createServer(({ url: at = '' }, response) => {
      const content = served.get(at.replace('/maven/', ''));
      response.writeHead(content === undefined ? 404 : 200).end(content);
    });
    await new Promise<void>((resolve) => repository.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(repository.address() as AddressInfo).port}/maven`;
  });
  afterAll(() => {
    repository.closeAllConnections();
    repository.close();
  });
  beforeEach(() => {
    served.clear();
    for (const [at, content] of Object.entries(contents)) served.set(at, content);
    folder = mkdtempSync(path.join(tmpdir(), 'pf-jars-'));
    list = path.join(folder, 'jars.sha256');
    const lines = Object.entries(contents).map(
      ([at, content]) => `${createHash('sha256').update(content).digest('hex')}  ${at}\n`,
    );
    writeFileSync(list, lines.join(''));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('are fetched into one folder', async () => {
    const to = path.join(folder, 'kafka');
    await fetchListed(list, url, to);
    expect(readdirSync(to).sort()).toEqual(['one-1.jar', 'two-1.jar']);
    expect(readFileSync(path.join(to, 'one-1.jar'), 'utf8')).toBe('first');
    expect(() => compareWithList(list, to)).not.toThrow();
  });

  it('are refused when one is damaged, whoever fetched it', async () => {
    served.set('org/two/1/two-1.jar', 'damaged');
    const to = path.join(folder, 'kafka');
    await expect(fetchListed(list, url, to)).rejects.toThrow(/^org\/two\/1\/two-1\.jar has the SHA-256 [0-9a-f]{64}/);
    writeFileSync(path.join(to, 'two-1.jar'), 'damaged');
    expect(() => compareWithList(list, to)).toThrow('damaged or was replaced');
  });

  it('are refused when one is missing in the repository, or is in no list', async () => {
    served.delete('org/one/1/one-1.jar');
    const to = path.join(folder, 'kafka');
    await expect(fetchListed(list, url, to)).rejects.toThrow(
      /one-1\.jar: status 404\. MAVEN_REPOSITORY must be .* a repository has org\/one\/1\/one-1\.jar\.$/,
    );
    writeFileSync(path.join(to, 'three-1.jar'), 'third');
    expect(() => compareWithList(list, to)).toThrow('lacks three-1.jar');
  });

  it('are refused with the variable’s name when its value is no URL', async () => {
    for (const wrong of ['mirror.example/maven', 'file:///maven', 'https://'])
      await expect(fetchListed(list, wrong, folder)).rejects.toThrow(`MAVEN_REPOSITORY is "${wrong}"`);
  });
});
