import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { link, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ParleyError } from '@parley/kernel'
import { StoreError } from '../errors.ts'
import type { Sealer } from '../protocol.ts'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Format, key version (16 bits): authenticated with the rest. */
const HEADER_BYTES = 3
const FORMAT = 1
const MAX_VERSION = 0xffff

/** Keys by version; new values are sealed under the highest version. */
export type MasterKey = ReadonlyMap<number, Buffer>

/**
 * Reads `PARLEY_MASTER_KEY`: 32 bytes in base64, or several with their versions, `2:<base64>,1:<base64>`, while a
 * rotation runs. One without a version is version 1. Throws `master_key_invalid`.
 */
export function parseMasterKey(text: string): MasterKey {
  const keys = new Map<number, Buffer>()
  for (const part of text.trim().split(',')) {
    const match = /^\s*(?:(\d{1,5}):)?([A-Za-z0-9+/_-]{43}=?)\s*$/.exec(part)
    const version = Number(match?.[1] ?? 1)
    const key = Buffer.from(match?.[2] ?? '', 'base64')
    if (key.length !== KEY_BYTES || version < 1 || version > MAX_VERSION || keys.has(version))
      throw new StoreError(
        'master_key_invalid',
        'the master key must be 32 bytes in base64, or several as VERSION:BASE64,VERSION:BASE64 with versions 1 to 65535',
      )
    keys.set(version, key)
  }
  return keys
}

/** The text that `parseMasterKey` reads. */
export function formatMasterKey(key: MasterKey): string {
  return [...key].map(([version, bytes]) => `${version}:${bytes.toString('base64')}`).join(',')
}

/** The same keys and a new one with the next version. */
export function withNewKey(key: MasterKey): MasterKey {
  return new Map([[currentVersion(key) + 1, randomBytes(KEY_BYTES)], ...key])
}

/**
 * The configured key, or else that of `<home>/master.key` (mode 600), which is created on first use.
 * Throws `master_key_invalid`.
 */
export async function loadMasterKey(configured: string | undefined, home: string): Promise<MasterKey> {
  if (configured !== undefined && configured.trim() !== '') return parseMasterKey(configured)
  const path = join(home, 'master.key')
  const kept = await readKept(path)
  if (kept !== null) return parseMasterKey(kept)
  const fresh = `${path}.${randomBytes(6).toString('hex')}`
  const file = await open(fresh, 'wx', 0o600)
  try {
    await file.writeFile(`${formatMasterKey(new Map([[1, randomBytes(KEY_BYTES)]]))}\n`)
    // Without the key every secret is lost, so it must survive a power cut.
    await file.sync()
  } finally {
    await file.close()
  }
  // Fails if another process was first; then that process's key is used.
  await link(fresh, path).catch(error => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(fresh)
  return parseMasterKey(await readFile(path, 'utf8'))
}

/** The version under which `sealed` was sealed. Throws `seal_broken`. */
export function keyVersionOf(sealed: Buffer): number {
  if (sealed.length < HEADER_BYTES + NONCE_BYTES + TAG_BYTES || sealed[0] !== FORMAT) throw broken()
  return sealed.readUInt16BE(1)
}

/** AES-256-GCM (NIST SP 800-38D) with 96 random bits of nonce; the context is additional data. */
export class MasterKeySealer implements Sealer {
  /** Prepared for the ciphers: from bytes each of them would prepare it anew, which takes longer than a seal. */
  readonly #keys: ReadonlyMap<number, KeyObject>
  /** The version under which new values are sealed. */
  readonly currentVersion: number

  constructor(keys: MasterKey) {
    this.#keys = new Map([...keys].map(([version, bytes]) => [version, createSecretKey(bytes)]))
    this.currentVersion = currentVersion(keys)
  }

  /** Versions that this sealer can open. */
  get versions(): number[] {
    return [...this.#keys.keys()]
  }

  seal(plain: Buffer, context: string): Buffer {
    const header = Buffer.of(FORMAT, this.currentVersion >> 8, this.currentVersion & 0xff)
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#keyOf(this.currentVersion), nonce)
    cipher.setAAD(aad(header, context))
    return Buffer.concat([header, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  }

  open(sealed: Buffer, context: string): Buffer {
    const key = this.#keyOf(keyVersionOf(sealed))
    const [header, body] = [sealed.subarray(0, HEADER_BYTES), sealed.subarray(HEADER_BYTES)]
    const decipher = createDecipheriv('aes-256-gcm', key, body.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    decipher.setAAD(aad(header, context))
    decipher.setAuthTag(body.subarray(-TAG_BYTES))
    try {
      return Buffer.concat([decipher.update(body.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
    } catch (cause) {
      throw broken(cause)
    }
  }

  #keyOf(version: number): KeyObject {
    const key = this.#keys.get(version)
    if (key === undefined)
      throw new StoreError(
        'seal_broken',
        `it was sealed under version ${version} of the master key, which is not given`,
      )
    return key
  }
}

function currentVersion(key: MasterKey): number {
  return Math.max(...key.keys())
}

function aad(header: Buffer, context: string): Buffer {
  return Buffer.concat([header, Buffer.from(context, 'utf8')])
}

function broken(cause?: unknown): ParleyError {
  return new StoreError('seal_broken', 'it was not sealed under this master key and context', { cause })
}

async function readKept(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(error => {
    if (error.code === 'ENOENT') return null
    throw error
  })
}
