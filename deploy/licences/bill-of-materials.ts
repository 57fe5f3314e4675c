/**
 * Prints the bill of materials of a release, in the form of CycloneDX 1.6 (ECMA-424) as JSON: `npm run --silent bill-of-materials`. It lists
 * the packages that reach an institution, each with version, licence, digest and package URL, and is the same on every platform.
 */
import { type LockedPackage, read, shippedPackages } from './packages.ts';

/** The bill, as an object that JSON can write. */
export function billOfMaterials(): object {
  const { name, version, description } = JSON.parse(read('package.json'));
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: { type: 'application', name, version, description, 'bom-ref': `pkg:npm/${name}@${version}` },
    },
    components: [...new Map(shippedPackages().map((one) => [packageUrl(one), componentOf(one)])).values()],
  };
}

function componentOf(one: LockedPackage): object {
  const [group, name] = one.name.startsWith('@') ? one.name.split('/') : [undefined, one.name];
  const url = packageUrl(one);
  return {
    type: 'library',
    'bom-ref': url,
    ...(group && { group }),
    name,
    version: one.version,
    scope: one.platform ? 'optional' : 'required',
    ...(one.integrity && { hashes: one.integrity.split(' ').map(digestOf) }),
    ...(one.licence && { licenses: [{ expression: one.licence.replaceAll(' or ', ' OR ') }] }),
    purl: url,
  };
}

/** `sha512-` and base64 (Subresource Integrity) as CycloneDX writes it. */
function digestOf(integrity: string): object {
  const [algorithm = '', digest = ''] = [
    integrity.slice(0, integrity.indexOf('-')),
    integrity.slice(integrity.indexOf('-') + 1),
  ];
  return {
    alg: algorithm.toUpperCase().replace('SHA', 'SHA-'),
    content: Buffer.from(digest, 'base64').toString('hex'),
  };
}

/** Package URL (ECMA-427): the scope's `@` is percent-encoded. */
function packageUrl({ name, version }: LockedPackage): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

if (import.meta.main) process.stdout.write(`${JSON.stringify(billOfMaterials(), null, 2)}\n`);
