export { createScreening } from './screening.ts';
export { ApiScreener } from './api/api-screener.ts';
export { openScreening, screeningVariables } from './environment.ts';
export { comparable } from './comparable.ts';
export {
  ListFileError,
  readListFile,
  readListFileIfThere,
  type SanctionsList,
  writeListFile,
} from './list/list-file.ts';
export { ListScreener } from './list/list-screener.ts';
export { type ListedAddress, OfacExportError } from './list/ofac-export.ts';
export {
  changesBetween,
  FEWEST_ADDRESSES,
  fetchExport,
  type ListChanges,
  listOf,
  OFAC_ADVANCED_EXPORT,
  suspicion,
} from './list/update.ts';
export {
  type Finding,
  type ScreenedWallet,
  type Screening,
  type ScreeningOrigin,
  ScreeningUnavailableError,
  type Verdict,
} from './port.ts';
