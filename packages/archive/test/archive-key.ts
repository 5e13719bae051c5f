import type { ObjectStore, Signer } from '../src/index.ts';
import { writePublicKey } from '../src/manifest.ts';
import { publicKeyKey } from '../src/names.ts';

/** Publishes the key that signs an archive, as the service does when it starts. */
export const archiveKey = (store: ObjectStore, signer: Signer): Promise<boolean> =>
  store.create(publicKeyKey(signer.id), writePublicKey(signer));
