// Statistics of virtual servers, and of their HTTP profiles, as the device nests them.

import { notFound } from '../configuration/refusal.ts';
import type { Device } from '../device.ts';
import type { Json } from './body.ts';
import { link, tilde } from './pool.ts';

/** `ltm/virtual/NAME/stats`, or of all. */
export function virtualStats({ plane }: Device, path: string | undefined): Json {
  const all = plane.virtuals().filter(({ name }) => path === undefined || name === path);
  if (path !== undefined && all.length === 0) throw notFound('Virtual Server', path);
  const entries = all.map(({ name, connections, accepted }): [string, Json] => {
    const at = `ltm/virtual/${tilde(name)}/${tilde(name)}/stats`;
    const values = {
      tmName: { description: name },
      'clientside.curConns': { value: connections },
      'clientside.totConns': { value: accepted },
    };
    const nestedStats = { kind: 'tm:ltm:virtual:virtualstats', selfLink: link(at), entries: values };
    return [`https://localhost/mgmt/tm/${at}`, { nestedStats }];
  });
  return {
    kind: 'tm:ltm:virtual:virtualcollectionstats',
    selfLink: link('ltm/virtual/stats'),
    entries: Object.fromEntries(entries),
  };
}

/** `ltm/virtual/NAME/profiles/stats`. */
export function profileStats({ configuration, plane }: Device, path: string): Json {
  const virtual = configuration.get('virtual', path);
  if (!virtual) throw notFound('Virtual Server', path);
  const at = `ltm/virtual/${tilde(path)}/profiles`;
  const isHttp = (profile: string): boolean => configuration.get('profile', profile)?.type === 'http';
  const entries = virtual.profiles
    .filter((profile) => isHttp(profile.path))
    .map((profile): [string, Json] => [
      `https://localhost/mgmt/tm/${at}/${tilde(profile.path)}/stats`,
      {
        nestedStats: {
          kind: 'tm:ltm:virtual:profiles:profilesstats',
          selfLink: link(`${at}/${tilde(profile.path)}/stats`),
          entries: httpEntries(plane.http.of(path), { profile: profile.path, virtual: path }),
        },
      },
    ]);
  return {
    kind: 'tm:ltm:virtual:profiles:profilescollectionstats',
    selfLink: link(`${at}/stats`),
    entries: Object.fromEntries(entries),
  };
}

function httpEntries(
  { requests, responses, upgrades }: ReturnType<Device['plane']['http']['of']>,
  { profile, virtual }: { profile: string; virtual: string },
): Json {
  return {
    tmName: { description: profile },
    typeId: { description: 'ltm profile http' },
    vsName: { description: virtual },
    numberReqs: { value: requests },
    passthroughWebSockets: { value: upgrades },
    resp_2xxCnt: { value: responses[2] },
    resp_3xxCnt: { value: responses[3] },
    resp_4xxCnt: { value: responses[4] },
    resp_5xxCnt: { value: responses[5] },
  };
}
