import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { runbookOf } from '../src/alert.ts';
import { FILES } from '../src/files.ts';
import { selected } from '../src/promql.ts';
import { ALERTS } from '../src/rules.ts';
import { BUDGET_WINDOW, errorRatio, SLOS } from '../src/slo.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

describe('what is made of this folder', () => {
  it.each(Object.keys(FILES))('%s is as the code says: pnpm --filter @pf/observability document', (file) => {
    expect(read(file)).toBe(FILES[file]);
  });

  it('is one set of rules, for Prometheus and for its operator', () => {
    const { groups } = parse(read('infra/observability/prometheus/rules.yml')) as { groups: unknown };
    const { spec } = parse(read('k8s/components/monitoring/prometheus-rule.yaml')) as { spec: unknown };
    expect(spec).toEqual({ groups });
  });

  it('has no dashboard besides', () => {
    const folder = 'infra/observability/grafana/dashboards';
    expect(
      readdirSync(path.join(ROOT, folder))
        .map((name) => `${folder}/${name}`)
        .sort(),
    ).toEqual(
      Object.keys(FILES)
        .filter((file) => file.startsWith(folder))
        .sort(),
    );
  });
});

/** What every runbook has: what somebody needs at night, in this order. */
const SECTIONS = ['## What it means', '## Look', '## Mend', '## Escalate'];
const named = new Map(ALERTS.map(({ name }) => [runbookOf(name), name]));

describe('runbooks', () => {
  it('are there for every alert, and no others', () => {
    const there = readdirSync(path.join(ROOT, 'docs/operations/runbooks'))
      .filter((name) => name !== 'README.md')
      .map((name) => `docs/operations/runbooks/${name}`);
    expect(there.sort()).toEqual([...named.keys()].sort());
  });

  it.each([...named])('%s tells what %s means, where to look, what to do', (file, name) => {
    const text = read(file);
    expect(text.startsWith(`# ${name}\n`)).toBe(true);
    expect(text.match(/^## .+$/gm)).toEqual(SECTIONS);
    // Commands to look and to mend, not advice alone.
    expect(text).toMatch(/```/);
  });

  it('are in the list of alerts', () => {
    const list = read('docs/operations/runbooks/README.md');
    for (const [file, name] of named) expect(list).toContain(`[${name}](${path.basename(file)})`);
  });

  it('lead only to pages and headings that are there', () => {
    for (const file of [...named.keys(), 'docs/operations/runbooks/README.md', 'docs/operations/slo.md']) {
      for (const [, target = '', anchor] of read(file).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)) {
        const page = target === '' ? file : path.join(path.dirname(file), target);
        expect({ file, target, exists: existsSync(path.join(ROOT, page)) }).toEqual({ file, target, exists: true });
        if (anchor)
          expect({ file, target, anchors: anchorsOf(read(page)) }).toEqual({
            file,
            target,
            anchors: expect.arrayContaining([anchor]),
          });
      }
    }
  });
});

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('alerts', () => {
  it('say in their summary only labels that they have', () => {
    for (const { name, summary, fires } of ALERTS) {
      for (const [, label = ''] of summary.matchAll(/\$labels\.(\w+)/g))
        expect({ name, labels: Object.keys(fires.labels) }).toEqual({ name, labels: expect.arrayContaining([label]) });
    }
  });

  it('are named once for each severity', () => {
    const names = ALERTS.map(({ name, severity }) => `${name} ${severity}`);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('docs/operations/slo.md', () => {
  const page = read('docs/operations/slo.md');

  it.each([...SLOS])('defines $name as the rules do', (slo) => {
    expect(page).toContain(`| \`${slo.name}\` | ${Number((slo.objective * 100).toPrecision(4))} % | ${slo.good} |`);
    const section = page.split(`## ${slo.title}\n`)[1]?.split('\n## ')[0] ?? '';
    const written = /```promql\n([^`]+)```/.exec(section)?.[1] ?? '';
    const series = (expression: string): string[] =>
      selected(expression).map(({ metric, labels }) => `${metric} ${[...labels].sort().join(' ')}`);
    expect([...new Set(series(written))].sort()).toEqual([...new Set(series(errorRatio(slo, BUDGET_WINDOW)))].sort());
  });
});
