// The X.509 library, loaded when the first certificate is made or read: loading it is a fifth of the server's start.
import type * as X509 from '@peculiar/x509';

export async function loadX509(): Promise<typeof X509> {
  // Its dependency injection looks for this when it is loaded.
  await import('reflect-metadata');
  return import('@peculiar/x509');
}
