import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { runbookOf } from '../src/alert.ts';
import { FILES } from '../src/files.ts';
import { selectorsOf } from '../src/promql.ts';
import { ALERTS } from '../src/rules.ts';
import { BUDGET_WINDOW, errorRatio, SLOS } from '../src/slo.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

describe('generated rules and dashboards', () => {
  it('contain the same rules for Prometheus and for its operator', () => {
    const { groups } = parse(read('infra/observability/prometheus/rules.yml')) as { groups: unknown };
    const { spec } = parse(read('k8s/components/monitoring/prometheus-rule.yaml')) as { spec: unknown };
    expect(spec).toEqual({ groups });
  });

  it('include every file in the dashboards folder', () => {
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

/** The sections of every runbook, in the order in which an on-call engineer needs them. */
const SECTIONS = ['## What it means', '## Impact', '## Diagnose', '## Mitigate', '## Causes', '## Escalate'];
/** Pages for what no alert tells. */
const WITHOUT_ALERT = ['settlements', 'wallets'].map((name) => `docs/operations/runbooks/audit-${name}.md`);
const alertByRunbook = new Map(ALERTS.map(({ name }) => [runbookOf(name), name]));

describe('runbooks', () => {
  it('exist for every alert, and for little else', () => {
    const found = readdirSync(path.join(ROOT, 'docs/operations/runbooks'))
      .filter((name) => name !== 'README.md')
      .map((name) => `docs/operations/runbooks/${name}`);
    expect(found.sort()).toEqual([...alertByRunbook.keys(), ...WITHOUT_ALERT].sort());
  });

  it.each([...alertByRunbook])('%s has every section for the alert %s', (file, name) => {
    const text = read(file);
    expect(text.startsWith(`# ${name}\n`)).toBe(true);
    expect(text.match(/^## .+$/gm)).toEqual(SECTIONS);
    // It contains commands to run, not only advice.
    expect(text).toMatch(/```/);
  });

  it('state their severity, as does their entry in README.md', () => {
    const list = read('docs/operations/runbooks/README.md');
    for (const [file, name] of alertByRunbook) {
      const severities = ALERTS.filter((alert) => alert.name === name).map(({ severity }) => severity);
      expect(list).toContain(`- [${name}](${path.basename(file)}) (${severities.join(', ')}): `);
      expect(read(file)).toContain(`**Severity:** ${severities.join(' or ')}`);
    }
  });

  it('link only to pages and headings that exist', () => {
    const pages = ['docs/operations/runbooks/README.md', 'docs/operations/slo.md'];
    for (const file of [...alertByRunbook.keys(), ...WITHOUT_ALERT, ...pages]) {
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
  it('use in their summaries only labels that they have', () => {
    for (const { name, summary, fires } of ALERTS) {
      for (const [, label = ''] of summary.matchAll(/\$labels\.(\w+)/g))
        expect({ name, labels: Object.keys(fires.labels) }).toEqual({ name, labels: expect.arrayContaining([label]) });
    }
  });

  it('are tried on what one tenant can do, if they page', () => {
    const pages = ALERTS.filter(({ severity }) => severity === 'page');
    expect(pages.filter(({ oneTenant }) => !oneTenant).map(({ name }) => name)).toEqual([]);
  });

  it('have unique names for each severity', () => {
    const names = ALERTS.map(({ name, severity }) => `${name} ${severity}`);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('docs/operations/slo.md', () => {
  const page = read('docs/operations/slo.md');

  it.each([...SLOS])('defines $name as the rules do', (slo) => {
    const objective = `${Number((slo.objective * 100).toPrecision(4))} %`;
    expect(page.replaceAll(/ +/g, ' ')).toContain(`| \`${slo.name}\` | ${objective} |`);
    const section = page.split(`## ${slo.title}\n`)[1]?.split('\n## ')[0] ?? '';
    expect(section.replaceAll(/\s+/g, ' ')).toContain(`Good: ${slo.good}. `);
    const documented = /```promql\n([^`]+)```/.exec(section)?.[1] ?? '';
    const series = (expression: string): string[] =>
      selectorsOf(expression).map(({ metric, labels }) => `${metric} ${[...labels].sort().join(' ')}`);
    expect([...new Set(series(documented))].sort()).toEqual(
      [...new Set(series(errorRatio(slo, BUDGET_WINDOW)))].sort(),
    );
  });
});
