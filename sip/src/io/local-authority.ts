import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, X509Certificate } from 'node:crypto'
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Random, randomToken, systemRandom, type UnixMs } from '@parley/kernel'
import { issueCertificate } from '../tls/certificate.ts'
import { parseIpAddress } from '../transport/ip-address.ts'
import { errorCode } from './socket-error.ts'

const DAY_MS = 86_400_000
const AUTHORITY_DAYS = 3650
const SERVER_DAYS = 825
const RENEW_DAYS = 30
/** Peers' clocks may be behind ours. */
const BACKDATE_MS = 3_600_000

interface LocalCertificateOptions {
  /** DNS names; default localhost. */
  readonly names?: readonly string[]
  /** IP literals; default 127.0.0.1. */
  readonly addresses?: readonly string[]
  /** Wall clock; default the system's. */
  readonly now?: UnixMs
  readonly random?: Random
}

export interface LocalCertificate {
  /** PEM: the server certificate, its key, and the authority that signed it. */
  readonly cert: string
  readonly key: string
  readonly ca: string
  /** Path of the file with `ca`, the root certificate that a phone has to trust. */
  readonly caPath: string
}

interface Pair {
  readonly key: string
  readonly cert: string
}

/**
 * A certificate for this machine, signed by an authority of its own, kept in `dir`/tls: `authority.pem` and `server.pem`
 * (key and certificate in one file each, mode 600, so that a pair is never torn) and `ca.pem`. A valid
 * one is kept; a certificate is renewed within 30 days of its end or when names changed, the authority when it would
 * expire before a new certificate.
 * Two processes that start at once agree on one authority.
 */
export async function ensureLocalCertificate(
  dir: string,
  options: LocalCertificateOptions = {},
): Promise<LocalCertificate> {
  const { names = ['localhost'], addresses = ['127.0.0.1'], now = Date.now(), random = systemRandom } = options
  const folder = join(dir, 'tls')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const store = new PairStore(folder, random)
  const authority = await ensureAuthority(store, now, random)
  const caPath = join(folder, 'ca.pem')
  if ((await readIfThere(caPath)) !== authority.cert) await store.replaceFile('ca.pem', authority.cert, 0o644)
  const standing = await store.read('server.pem')
  const server =
    standing !== undefined && serves(standing, authority, names, addresses, now)
      ? standing
      : await issueServer(authority, names, addresses, now, random)
  if (server !== standing) await store.replace('server.pem', server)
  return { cert: server.cert, key: server.key, ca: authority.cert, caPath }
}

async function ensureAuthority(store: PairStore, now: UnixMs, random: Random): Promise<Pair> {
  const standing = await store.read('authority.pem')
  if (standing !== undefined && endOf(standing.cert) >= now + (SERVER_DAYS + 1) * DAY_MS) return standing
  const { publicKey, privateKey } = await newKey()
  // A name of its own for every authority: two of the same name with different keys confuse trust stores.
  const name = `Parley local authority ${randomToken(random, 8)}`
  const cert = issueCertificate({
    subject: name,
    publicKey,
    issuer: { name, privateKey, publicKey },
    notBefore: now - BACKDATE_MS,
    notAfter: now + AUTHORITY_DAYS * DAY_MS,
    use: 'authority',
    random,
  })
  const made = { key: keyPem(privateKey), cert }
  if (standing === undefined) return store.createOrRead('authority.pem', made)
  await store.replace('authority.pem', made)
  return made
}

async function issueServer(
  authority: Pair,
  names: readonly string[],
  addresses: readonly string[],
  now: UnixMs,
  random: Random,
): Promise<Pair> {
  const { publicKey, privateKey } = await newKey()
  const issuer = createPrivateKey(authority.key)
  const cert = issueCertificate({
    // RFC 5280 appendix A: a common name has at most 64 characters. What counts is the subjectAltName.
    subject: (names[0] ?? addresses[0] ?? 'localhost').slice(0, 64),
    publicKey,
    issuer: {
      name: new X509Certificate(authority.cert).subject.replace(/^CN=/, ''),
      privateKey: issuer,
      publicKey: createPublicKey(issuer),
    },
    notBefore: now - BACKDATE_MS,
    notAfter: now + SERVER_DAYS * DAY_MS,
    use: { names, addresses },
    random,
  })
  return { key: keyPem(privateKey), cert }
}

/** Whether an existing certificate covers these names and does not have to be renewed yet. */
function serves(
  pair: Pair,
  authority: Pair,
  names: readonly string[],
  addresses: readonly string[],
  now: UnixMs,
): boolean {
  const certificate = new X509Certificate(pair.cert)
  const issuer = new X509Certificate(authority.cert)
  if (!certificate.verify(issuer.publicKey) || endOf(pair.cert) < now + RENEW_DAYS * DAY_MS) return false
  if (Date.parse(certificate.validFrom) > now) return false
  return altNames(certificate.subjectAltName ?? '') === altNames(wantedAltNames(names, addresses))
}

function wantedAltNames(names: readonly string[], addresses: readonly string[]): string {
  return [...names.map(name => `DNS:${name}`), ...addresses.map(address => `IP Address:${address}`)].join(', ')
}

/** Order does not matter; addresses compare by their bytes, since IPv6 has many spellings. */
function altNames(text: string): string {
  const canonical = text.split(', ').map(entry => {
    const address = entry.startsWith('IP Address:') ? parseIpAddress(entry.slice('IP Address:'.length)) : undefined
    return address === undefined ? entry : `IP Address:${Buffer.from(address).toString('hex')}`
  })
  return [...new Set(canonical)].sort().join(', ')
}

function endOf(cert: string): UnixMs {
  return Date.parse(new X509Certificate(cert).validTo)
}

const generateKeyPairAsync = promisify(generateKeyPair)

function newKey(): Promise<{ publicKey: KeyObject; privateKey: KeyObject }> {
  return generateKeyPairAsync('rsa', { modulusLength: 2048 })
}

function keyPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string
}

/** Key and certificate in one file, written beside and moved into place. */
class PairStore {
  readonly #folder: string
  readonly #random: Random

  constructor(folder: string, random: Random) {
    this.#folder = folder
    this.#random = random
  }

  /** Undefined when there is none, or what is there is not a key with its certificate. */
  async read(name: string): Promise<Pair | undefined> {
    const text = await readIfThere(join(this.#folder, name))
    const at = text?.indexOf('-----BEGIN CERTIFICATE-----') ?? -1
    if (text === undefined || at <= 0) return undefined
    const pair = { key: text.slice(0, at), cert: text.slice(at) }
    try {
      return new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key)) ? pair : undefined
    } catch {
      return undefined
    }
  }

  async replace(name: string, pair: Pair): Promise<void> {
    await this.replaceFile(name, pair.key + pair.cert, 0o600)
  }

  async replaceFile(name: string, text: string, mode: number): Promise<void> {
    await rename(await this.#writeBeside(name, text, mode), join(this.#folder, name))
  }

  /** Of several processes the first one writes the file, and the others read it. */
  async createOrRead(name: string, pair: Pair): Promise<Pair> {
    const beside = await this.#writeBeside(name, pair.key + pair.cert, 0o600)
    try {
      await link(beside, join(this.#folder, name))
      return pair
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
      const standing = await this.read(name)
      if (standing !== undefined) return standing
      await rename(beside, join(this.#folder, name))
      return pair
    } finally {
      await rm(beside, { force: true })
    }
  }

  async #writeBeside(name: string, text: string, mode: number): Promise<string> {
    const beside = join(this.#folder, `.${name}.${randomToken(this.#random, 10)}`)
    await writeFile(beside, text, { mode, flag: 'wx' })
    return beside
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}
