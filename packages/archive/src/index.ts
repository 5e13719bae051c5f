export { Archiver, type ArchiverOptions } from './archiver.ts';
export { DeliveryArchive } from './deliveries/delivery-archive.ts';
export { type DeliveriesReport, verifyDeliveries } from './deliveries/verify.ts';
export { Signer } from './manifest.ts';
export { ParquetFiles } from './parquet.ts';
export { FolderStore } from './store/folder-store.ts';
export { type ObjectStore, StoreUnavailableError, StoreUnfitError } from './store/object-store.ts';
export { archiveUrl } from './store/archive-url.ts';
export { openStore } from './store/open-store.ts';
export { S3Store, type S3StoreOptions } from './store/s3-store.ts';
export { type Answer, Ledger, type LedgerScope, QueryError } from './ledger/ledger.ts';
export { type CopyOptions, TooLargeError } from './ledger/local-copies.ts';
export { ArchiveDamagedError } from './partition-archive.ts';
export { OtherEventsError, restorePartition, type RestoreReport } from './ledger/restore.ts';
export {
  type ArchiveReport,
  type NotedHead,
  type PartitionReport,
  partitionsIn,
  verifyArchive,
  verifyPartition,
} from './ledger/verify.ts';
