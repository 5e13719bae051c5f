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
  readonly image: string | undefined;
}

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
