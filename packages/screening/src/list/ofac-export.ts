import { SaxesParser, type SaxesTagPlain } from 'saxes';

/** Prefix of OFAC's name for a digital currency's addresses; the label follows. */
const DIGITAL_CURRENCY = 'Digital Currency Address - ';

/** One address of the list. OFAC lists the same address under several labels. */
export interface ListedAddress {
  readonly address: string;
  /** OFAC's label of the currency: `XBT`, `ETH`, `USDC`, `SOL`. */
  readonly label: string;
  /** The id of the party that owns the address. */
  readonly uid: string;
  readonly name: string;
}

/** The digital currency addresses of one of OFAC's exports. */
export interface OfacExport {
  /** SDN_ADVANCED.XML or sdn.xml. */
  readonly format: 'advanced' | 'standard';
  /** The day of its publication, `2026-11-20`; null if the export does not contain it. */
  readonly publishedOn: string | null;
  /** All parties, including those without digital currency. */
  readonly parties: number;
  readonly addresses: readonly ListedAddress[];
}

/** The text is not a complete export of the SDN list. */
export class OfacExportError extends Error {
  override readonly name = 'OfacExportError';
}

/**
 * Reads an export of OFAC's SDN list as a stream: the advanced format has more than 80 MB. The root element determines
 * the format.
 * @see https://ofac.treasury.gov/sanctions-list-service
 * @throws OfacExportError if it is not well-formed, is truncated, is another document, or has an empty address
 */
export async function readOfacExport(chunks: AsyncIterable<Uint8Array | string>): Promise<OfacExport> {
  const parser = new SaxesParser();
  const reader = new ExportReader();
  parser.on('opentag', (tag) => reader.open(tag));
  parser.on('text', (text) => reader.text(text));
  parser.on('closetag', (tag) => reader.close(tag));
  parser.on('error', (error) => {
    throw new OfacExportError(`it is not well-formed XML: ${error.message.replace(/\.$/, '')}`);
  });
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of chunks)
      parser.write(typeof chunk === 'string' ? chunk : utf8.decode(chunk, { stream: true }));
    parser.write(utf8.decode()).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      throw new OfacExportError('it is not UTF-8', { cause: error });
    throw error;
  }
  return reader.result();
}

interface Party {
  uid: string;
  /** The parts of its name, in order. */
  readonly names: string[];
  readonly addresses: { readonly label: string; readonly address: string }[];
}

/** OFAC has published the same elements in several namespaces, so only local names are compared. */
const localName = ({ name }: { name: string }): string => name.slice(name.indexOf(':') + 1);
const attribute = ({ attributes }: SaxesTagPlain, name: string): string => attributes[name] ?? '';

class ExportReader {
  readonly #path: string[] = [];
  readonly #addresses: ListedAddress[] = [];
  /** In the advanced format: label by id of the feature type. */
  readonly #labels = new Map<string, string>();
  readonly #published = new Map<string, string>();
  #format: OfacExport['format'] | null = null;
  #declaredParties: number | null = null;
  #parties = 0;
  #text = '';
  #party: Party | null = null;
  /** The label of the id or feature that is being read; null if it is not a digital currency address. */
  #label: string | null = null;
  #address = '';
  #featureType = '';
  #inPrimaryAlias = false;
  #named = false;

  open(tag: SaxesTagPlain): void {
    const name = localName(tag);
    if (this.#path.length === 0) this.#format = formatOf(name);
    this.#path.push(name);
    this.#text = '';
    if (this.#format === 'advanced') this.#openAdvanced(name, tag);
    else if (name === 'sdnEntry') this.#party = { uid: '', names: [], addresses: [] };
  }

  text(text: string): void {
    this.#text += text;
  }

  close(tag: SaxesTagPlain): void {
    const name = localName(tag);
    if (this.#format === 'advanced') this.#closeAdvanced(name, this.#text.trim());
    else this.#closeStandard(name, this.#text.trim());
    this.#path.pop();
    this.#text = '';
  }

  result(): OfacExport {
    if (this.#format === null) throw new OfacExportError('it is empty');
    if (this.#declaredParties !== null && this.#declaredParties !== this.#parties)
      throw new OfacExportError(`it declares ${this.#declaredParties} entries, but has ${this.#parties}`);
    return {
      format: this.#format,
      publishedOn: this.#publishedOn(),
      parties: this.#parties,
      addresses: this.#addresses,
    };
  }

  #openAdvanced(name: string, tag: SaxesTagPlain): void {
    if (name === 'FeatureType') this.#featureType = attribute(tag, 'ID');
    else if (name === 'DistinctParty') {
      this.#party = { uid: attribute(tag, 'FixedRef'), names: [], addresses: [] };
      this.#named = false;
    } else if (name === 'Alias') this.#inPrimaryAlias = attribute(tag, 'Primary') === 'true';
    else if (name === 'Feature') {
      this.#label = this.#labels.get(attribute(tag, 'FeatureTypeID')) ?? null;
      this.#address = '';
    }
  }

  #closeAdvanced(name: string, text: string): void {
    const parent = this.#path.at(-2);
    if (name === 'FeatureType') {
      if (text.startsWith(DIGITAL_CURRENCY)) this.#labels.set(this.#featureType, text.slice(DIGITAL_CURRENCY.length));
    } else if (name === 'NamePartValue') {
      if (this.#inPrimaryAlias && !this.#named) this.#party?.names.push(text);
    } else if (name === 'DocumentedName') {
      // The same name follows in other scripts.
      this.#named ||= this.#inPrimaryAlias;
    } else if (name === 'VersionDetail') this.#address = text;
    else if (name === 'Feature') this.#closeAddress();
    else if (name === 'DistinctParty') this.#closeParty();
    else if (parent === 'DateOfIssue') this.#published.set(name, text);
  }

  #closeStandard(name: string, text: string): void {
    const parent = this.#path.at(-2);
    if (parent === 'sdnEntry') {
      if (name === 'uid' && this.#party) this.#party.uid = text;
      if (name === 'firstName' || name === 'lastName') this.#party?.names.push(text);
    } else if (parent === 'id') {
      if (name === 'idType')
        this.#label = text.startsWith(DIGITAL_CURRENCY) ? text.slice(DIGITAL_CURRENCY.length) : null;
      if (name === 'idNumber') this.#address = text;
    } else if (name === 'id' && parent === 'idList') this.#closeAddress();
    else if (name === 'sdnEntry') this.#closeParty();
    else if (name === 'Publish_Date') this.#published.set(name, text);
    else if (name === 'Record_Count') this.#declaredParties = Number(text);
  }

  #closeAddress(): void {
    const [label, address] = [this.#label, this.#address];
    this.#label = null;
    this.#address = '';
    if (label === null) return;
    if (address === '') throw new OfacExportError(`an address with the label ${label} is empty`);
    this.#party?.addresses.push({ label, address });
  }

  #closeParty(): void {
    const party = this.#party;
    if (!party) return;
    if (party.uid === '') throw new OfacExportError('a party has no id');
    this.#parties += 1;
    const name = party.names.join(' ');
    for (const { label, address } of party.addresses) this.#addresses.push({ address, label, uid: party.uid, name });
    this.#party = null;
  }

  #publishedOn(): string | null {
    // Publish_Date is MM/DD/YYYY.
    const [month, day, year] =
      this.#format === 'standard'
        ? (this.#published.get('Publish_Date') ?? '').split('/')
        : [this.#published.get('Month'), this.#published.get('Day'), this.#published.get('Year')];
    if (!month || !day || !year) return null;
    return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  }
}

function formatOf(root: string): OfacExport['format'] {
  if (root === 'Sanctions') return 'advanced';
  if (root === 'sdnList') return 'standard';
  throw new OfacExportError(`its root element is ${root}: neither SDN_ADVANCED.XML (Sanctions) nor sdn.xml (sdnList)`);
}
