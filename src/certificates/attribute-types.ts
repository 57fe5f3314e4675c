/**
 * The attribute types of a distinguished name, with their names. The first name in a line is the one that OpenSSL prints with `-nameopt
 * RFC2253`; the others are also accepted when a name is read. Any other attribute type is written as its number, with its value in
 * hexadecimal (RFC 4514, section 2.4).
 */
const LINES = `
2.5.4.3 CN commonName
2.5.4.4 SN surname
2.5.4.5 serialNumber
2.5.4.6 C countryName
2.5.4.7 L localityName
2.5.4.8 ST stateOrProvinceName S
2.5.4.9 street streetAddress
2.5.4.10 O organizationName
2.5.4.11 OU organizationalUnitName
2.5.4.12 title T
2.5.4.13 description
2.5.4.14 searchGuide
2.5.4.15 businessCategory
2.5.4.16 postalAddress
2.5.4.17 postalCode
2.5.4.18 postOfficeBox
2.5.4.19 physicalDeliveryOfficeName
2.5.4.20 telephoneNumber
2.5.4.21 telexNumber
2.5.4.22 teletexTerminalIdentifier
2.5.4.23 facsimileTelephoneNumber
2.5.4.24 x121Address
2.5.4.25 internationaliSDNNumber
2.5.4.26 registeredAddress
2.5.4.27 destinationIndicator
2.5.4.28 preferredDeliveryMethod
2.5.4.29 presentationAddress
2.5.4.30 supportedApplicationContext
2.5.4.31 member
2.5.4.32 owner
2.5.4.33 roleOccupant
2.5.4.34 seeAlso
2.5.4.41 name
2.5.4.42 GN givenName G
2.5.4.43 initials
2.5.4.44 generationQualifier
2.5.4.45 x500UniqueIdentifier
2.5.4.46 dnQualifier
2.5.4.49 distinguishedName
2.5.4.50 uniqueMember
2.5.4.51 houseIdentifier
2.5.4.54 dmdName
2.5.4.65 pseudonym
2.5.4.72 role
2.5.4.97 organizationIdentifier
0.9.2342.19200300.100.1.1 UID userId
0.9.2342.19200300.100.1.2 textEncodedORAddress
0.9.2342.19200300.100.1.3 mail rfc822Mailbox
0.9.2342.19200300.100.1.4 info
0.9.2342.19200300.100.1.5 favouriteDrink
0.9.2342.19200300.100.1.6 roomNumber
0.9.2342.19200300.100.1.8 userClass
0.9.2342.19200300.100.1.9 host
0.9.2342.19200300.100.1.10 manager
0.9.2342.19200300.100.1.11 documentIdentifier
0.9.2342.19200300.100.1.12 documentTitle
0.9.2342.19200300.100.1.13 documentVersion
0.9.2342.19200300.100.1.14 documentAuthor
0.9.2342.19200300.100.1.15 documentLocation
0.9.2342.19200300.100.1.20 homeTelephoneNumber
0.9.2342.19200300.100.1.21 secretary
0.9.2342.19200300.100.1.25 DC domainComponent
0.9.2342.19200300.100.1.37 associatedDomain
0.9.2342.19200300.100.1.38 associatedName
0.9.2342.19200300.100.1.39 homePostalAddress
0.9.2342.19200300.100.1.40 personalTitle
0.9.2342.19200300.100.1.41 mobileTelephoneNumber
0.9.2342.19200300.100.1.42 pagerTelephoneNumber
0.9.2342.19200300.100.1.43 friendlyCountryName
0.9.2342.19200300.100.1.44 uniqueIdentifier
0.9.2342.19200300.100.1.45 organizationalStatus
0.9.2342.19200300.100.1.48 buildingName
1.2.840.113549.1.9.1 emailAddress E email
1.2.840.113549.1.9.2 unstructuredName
1.2.840.113549.1.9.8 unstructuredAddress
1.3.6.1.4.1.311.60.2.1.1 jurisdictionL jurisdictionLocalityName
1.3.6.1.4.1.311.60.2.1.2 jurisdictionST jurisdictionStateOrProvinceName
1.3.6.1.4.1.311.60.2.1.3 jurisdictionC jurisdictionCountryName
`;

const NAME_OF = new Map<string, string>();
const NUMBER_OF = new Map<string, string>();

for (const line of LINES.trim().split('\n')) {
  const [number = '', ...names] = line.split(' ');
  NAME_OF.set(number, names[0] ?? number);
  for (const name of names) NUMBER_OF.set(name, number);
}
// Names are case-insensitive (RFC 4514, 3). OpenSSL's `uid` for the unique identifier is the exception, because `uid` is the RFC's userid.
for (const [name, number] of [...NUMBER_OF]) {
  const lower = name.toLowerCase();
  if (!NUMBER_OF.has(lower)) NUMBER_OF.set(lower, number);
}

/** The name of an attribute type, such as `CN` for `2.5.4.3`; undefined for a type without a name. */
export function attributeName(number: string): string | undefined {
  return NAME_OF.get(number);
}

/** The number of an attribute type from its name, its number, or `OID.` and its number; undefined for an unknown name. */
export function attributeNumber(text: string): string | undefined {
  const number = /^(?:oid\.)?([0-2](?:\.(?:0|[1-9]\d*))+)$/i.exec(text)?.[1];
  return number ?? NUMBER_OF.get(text) ?? NUMBER_OF.get(text.toLowerCase());
}
