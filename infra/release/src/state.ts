/** What must agree before a release. */
export interface State {
  /** Tags of the commit that is checked out. */
  readonly tags: readonly string[];
  /** Paths that differ from the commit. */
  readonly changed: readonly string[];
  /** The version in each package.json, by its path. */
  readonly versions: ReadonlyMap<string, string>;
  /** The chart's `version` and `appVersion`. */
  readonly chart: readonly string[];
  readonly changelog: string;
  /** docs/operations/networks.md: its rows end with the date on which their fact was read. */
  readonly networks: string;
  /** The day of the release: `2026-11-27`. */
  readonly today: string;
  readonly image: string | undefined;
}

const FACT_DAYS_MAX = 90;
const DAY_MS = 86_400_000;

/** The facts about networks that were read too long ago, each by its row without the source. */
function staleFacts({ networks, today }: Pick<State, 'networks' | 'today'>): readonly string[] {
  const rows = networks.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  return rows.flatMap(([, network = '', fact = '', , read = '']) => {
    const days = (Date.parse(today) - Date.parse(read)) / DAY_MS;
    return days > FACT_DAYS_MAX ? [`${network}: ${fact} (${read})`] : [];
  });
}
const DATED_ROW = /^\| .* \d{4}-\d\d-\d\d +\|$/m;

/** @returns the version that the tag names, or what must be fixed first */
export function versionToRelease(state: State): { readonly version: string } | { readonly problems: string[] } {
  const named = state.tags.filter((tag) => /^v\d+\.\d+\.\d+(-[\w.]+)?$/.test(tag));
  const [tag] = named;
  if (tag === undefined || named.length > 1)
    return {
      problems: [
        `The commit has ${named.length} tags such as v1.2.0${named.length === 0 ? '' : `: ${named.join(', ')}`}. Tag ` +
          'it with the one version to release.',
      ],
    };
  const version = tag.slice(1);
  const others = [...state.versions].filter(([, other]) => other !== version);
  const stale = staleFacts(state);
  const checks: [boolean, string][] = [
    [state.changed.length === 0, `Files differ from the commit: ${state.changed.join(', ')}. Commit or restore them.`],
    [
      others.length === 0,
      `The tag is ${tag}, but ${others.map(([file, other]) => `${file} has ${other}`).join(', ')}. Set them to ` +
        `${version} before the tag.`,
    ],
    [
      state.chart.every((other) => other === version),
      `The tag is ${tag}, but k8s/chart/Chart.yaml has ${state.chart.join(' and ')}. Set both to ${version}.`,
    ],
    [
      DATED_ROW.test(state.networks),
      'docs/operations/networks.md has no fact with the date on which it was read. Restore its table.',
    ],
    [
      stale.length === 0,
      `docs/operations/networks.md has facts that were read more than ${FACT_DAYS_MAX} days ago: ` +
        `${stale.join('; ')}. Read their sources again.`,
    ],
    [state.changelog.includes(`\n## [${version}]`), `CHANGELOG.md has no section "## [${version}]". Add it.`],
    [
      state.image !== undefined && /^[\w.:-]+(\/[a-z0-9._-]+)+$/.test(state.image),
      `IMAGE is ${state.image === undefined ? 'not set' : `"${state.image}"`}. Set it to where the image goes, ` +
        'without a tag: images.example/payment-intents.',
    ],
  ];
  const problems = checks.flatMap(([holds, problem]) => (holds ? [] : [problem]));
  return problems.length === 0 ? { version } : { problems };
}
