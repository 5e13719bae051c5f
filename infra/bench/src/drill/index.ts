export { problemsOf, summarize } from './report.ts';
export { type Case, drill } from './run.ts';
