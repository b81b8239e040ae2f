// Volumes of a pod and where its containers see them.
import { duplicate, forbiddenField, invalidValue, required } from '../field-error.ts';
import { labelProblems } from '../names.ts';
import { isTree, listOf, textOf, treeOf, type Tree } from '../object.ts';
import type { Cause } from '../status.ts';

/** The sources, in the order in which one too many is found, each with the fields that it needs. */
const sources: Record<string, string[]> = {
  emptyDir: [],
  hostPath: ['path'],
  gitRepo: ['repository'],
  gcePersistentDisk: ['pdName'],
  awsElasticBlockStore: ['volumeID'],
  secret: ['secretName'],
  nfs: ['server', 'path'],
  iscsi: ['targetPortal', 'iqn'],
  glusterfs: ['endpoints', 'path'],
  flocker: [],
  persistentVolumeClaim: ['claimName'],
  rbd: ['monitors', 'image'],
  cinder: ['volumeID'],
  cephfs: ['monitors'],
  quobyte: ['registry', 'volume'],
  downwardAPI: [],
  fc: [],
  configMap: ['name'],
  azureFile: ['secretName', 'shareName'],
  vsphereVolume: ['volumePath'],
  photonPersistentDisk: ['pdID'],
  portworxVolume: ['volumeID'],
  azureDisk: ['diskName', 'diskURI'],
  storageos: [],
  projected: [],
  scaleIO: ['gateway', 'system', 'volumeName'],
  csi: ['driver'],
  ephemeral: ['volumeClaimTemplate'],
  image: [],
};
const modeHint = 'must be a number between 0 and 0777 (octal), both inclusive';

export function volumeCauses(volumes: unknown[], path: string): Cause[] {
  const names = new Set<string>();
  return volumes.flatMap((item, i) => {
    const volume = treeOf(item);
    const name = textOf(volume.name);
    const at = `${path}[${i}]`;
    const causes = sourceCauses(volume, at);
    if (name === '') causes.push(required(`${at}.name`));
    else causes.push(...labelProblems(name).map((why) => invalidValue(`${at}.name`, name, why)));
    if (names.has(name)) causes.push(duplicate(`${at}.name`, name));
    if (causes.length === 0) names.add(name);
    return causes;
  });
}

function sourceCauses(volume: Tree, at: string): Cause[] {
  const found = Object.keys(sources).filter((source) => isTree(volume[source]));
  if (found.length === 0) return [required(at, 'must specify a volume type')];
  return found.flatMap((source, i) => {
    const below = `${at}.${source}`;
    if (i > 0) return [forbiddenField(below, 'may not specify more than 1 volume type')];
    const given = treeOf(volume[source]);
    const causes = (sources[source] ?? []).flatMap((field) => (given[field] ? [] : [required(`${below}.${field}`)]));
    const mode = given.defaultMode;
    if (typeof mode === 'number' && (mode < 0 || mode > 0o777))
      causes.push(invalidValue(`${below}.defaultMode`, mode, modeHint));
    return [...causes, ...itemsCauses(listOf(given.items), `${below}.items`)];
  });
}

/** Files of a volume: each of a key (or a field), at a path inside of it. */
function itemsCauses(items: unknown[], path: string): Cause[] {
  return items.flatMap((item, i) => {
    const { key, path: file, fieldRef, resourceFieldRef } = treeOf(item);
    const isOfField = fieldRef !== undefined || resourceFieldRef !== undefined;
    return [
      ...(key || isOfField ? [] : [required(`${path}[${i}].key`)]),
      ...(file ? insideCauses(textOf(file), `${path}[${i}].path`) : [required(`${path}[${i}].path`)]),
    ];
  });
}

function insideCauses(file: string, path: string): Cause[] {
  const causes: Cause[] = [];
  if (file.startsWith('/')) causes.push(invalidValue(path, file, 'must be a relative path'));
  if (file.split('/').includes('..')) causes.push(invalidValue(path, file, "must not contain '..'"));
  return causes;
}

/** Where a container at `path` sees `volumes`. */
export function mountCauses(container: Tree, volumes: unknown[], path: string): Cause[] {
  const names = new Set(volumes.map((volume) => textOf(treeOf(volume).name)));
  const seen = new Set<string>();
  return listOf(container.volumeMounts).flatMap((item, i) => {
    const mount = treeOf(item);
    const at = `${path}.volumeMounts[${i}]`;
    const name = textOf(mount.name);
    const where = textOf(mount.mountPath);
    const causes: Cause[] = [];
    if (name === '') causes.push(required(`${at}.name`));
    if (!names.has(name))
      causes.push({
        reason: 'FieldValueNotFound',
        message: `Not found: ${JSON.stringify(name)}`,
        field: `${at}.name`,
      });
    if (where === '') causes.push(required(`${at}.mountPath`));
    if (seen.has(where)) causes.push(invalidValue(`${at}.mountPath`, where, 'must be unique'));
    seen.add(where);
    if (mount.subPath) causes.push(...insideCauses(textOf(mount.subPath), `${at}.subPath`));
    if (mount.subPath && mount.subPathExpr)
      causes.push(
        invalidValue(`${at}.subPathExpr`, mount.subPathExpr, 'subPathExpr and subPath are mutually exclusive'),
      );
    return causes;
  });
}
