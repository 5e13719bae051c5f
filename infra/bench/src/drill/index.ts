export { problemsOf, summarize } from './report.ts';
export { drill } from './run.ts';
