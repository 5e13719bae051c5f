export { Archiver, type ArchiverOptions } from './archiver.ts';
export { Signer } from './manifest.ts';
export { ParquetFiles } from './parquet.ts';
export { FolderStore } from './store/folder-store.ts';
export { type ObjectStore, StoreUnavailableError } from './store/object-store.ts';
export { archiveUrl } from './store/archive-url.ts';
export { openStore } from './store/open-store.ts';
export { type Answer, Ledger, QueryError } from './ledger/ledger.ts';
export { type PartitionReport, partitionsIn, verifyPartition } from './ledger/verify.ts';
