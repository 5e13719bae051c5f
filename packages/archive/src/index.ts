export { Archiver, type ArchiverOptions } from './archiver.ts';
export { Signer } from './manifest.ts';
export { ParquetFiles } from './parquet.ts';
export { FolderStore } from './store/folder-store.ts';
export { type ObjectStore, StoreUnavailableError } from './store/object-store.ts';
export { archiveUrl, openStore } from './store/open-store.ts';
