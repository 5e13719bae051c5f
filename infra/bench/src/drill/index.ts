export { problemsOf, summarize } from './report.ts';
export { CASES, drill } from './run.ts';
