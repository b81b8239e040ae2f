// TLS towards clients: which certificate answers which server name, from the client-ssl profiles of a virtual server.

import { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Virtual } from '../configuration/object.ts';
import type { View } from '../configuration/store.ts';

interface Offer {
  pair: { cert: string; key: string };
  certificate: X509Certificate;
  context: SecureContext;
  serverName: string | undefined;
}

/** Chooses by the name a client asks for: its profile's, then a certificate that names it, then the first. */
export interface Contexts {
  /** For clients that name no server. */
  first: { cert: string; key: string } | undefined;
  choose(serverName: string | undefined): SecureContext | undefined;
}

export function contextsOf(virtual: Virtual, configuration: View): Contexts {
  const profiles = virtual.profiles.flatMap(({ path }) => configuration.get('profile', path) ?? []);
  const ofClient = profiles.filter((profile) => profile.type === 'client-ssl' && profile.certificate !== undefined);
  const sorted = [...ofClient].sort((a, b) => Number(b.sniDefault ?? false) - Number(a.sniDefault ?? false));
  const offers = sorted.flatMap((profile): Offer[] => {
    const pair = configuration.get('certificate', profile.certificate ?? '');
    if (!pair) return [];
    const material = { cert: pair.certificate, key: pair.key };
    const certificate = new X509Certificate(pair.certificate);
    return [
      {
        pair: material,
        certificate,
        context: createSecureContext(material),
        serverName: profile.serverName?.toLowerCase(),
      },
    ];
  });
  return {
    first: offers[0]?.pair,
    choose(serverName) {
      if (serverName === undefined || serverName === '') return offers[0]?.context;
      const asked = serverName.toLowerCase();
      const exact = offers.find((offer) => offer.serverName === asked);
      const wild = offers.find((offer) => offer.serverName === asked.replace(/^[^.]+/, '*'));
      // A profile with a server name takes no part by the names in its certificate.
      const byCertificate = offers.find((offer) => !offer.serverName && offer.certificate.checkHost(asked));
      return (exact ?? wild ?? byCertificate ?? offers[0])?.context;
    },
  };
}
