import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerSealContext } from '../idempotency.ts'
import { currentSigningKey } from '../release/signing-keys.ts'
import { secretSealContext } from '../secrets.ts'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { checkMasterKey, rotateMasterKey } from './master-key-rotation.ts'
import { formatMasterKey, keyVersionOf, loadMasterKey, MasterKeySealer, parseMasterKey, withNewKey } from './sealer.ts'
import { ensureSigningKey } from './signing-key-creation.ts'

const first = new Map([[1, Buffer.alloc(32, 1)]])
const sealer = new MasterKeySealer(first)
const broken = expect.objectContaining({ code: 'seal_broken' })

describe('sealed values', () => {
  it('a sealed value of any length opens with its key and context', () => {
    for (const plain of [Buffer.alloc(0), Buffer.from('a secret'), Buffer.alloc(100_000, 3)])
      expect(sealer.open(sealer.seal(plain, 'here'), 'here')).toEqual(plain)
  })

  it('a sealed value reveals nothing of its content and differs each time', () => {
    const seals = Array.from({ length: 100 }, () => sealer.seal(Buffer.from('a secret'), 'here').toString('latin1'))
    expect(new Set(seals).size).toBe(100)
    expect(seals.some(seal => seal.includes('secret'))).toBe(false)
  })

  it('a sealed value does not open in another context, with another key, or with one bit changed', () => {
    const seal = sealer.seal(Buffer.from('a secret'), 'here')
    expect(() => sealer.open(seal, 'there')).toThrow(broken)
    expect(() => new MasterKeySealer(new Map([[1, Buffer.alloc(32, 2)]])).open(seal, 'here')).toThrow(broken)
    for (let bit = 0; bit < seal.length * 8; bit++) {
      const bent = Buffer.from(seal)
      bent[bit >> 3]! ^= 1 << (bit & 7)
      expect(() => sealer.open(bent, 'here'), `bit ${bit}`).toThrow(broken)
    }
    for (let length = 0; length < seal.length; length++)
      expect(() => sealer.open(seal.subarray(0, length), 'here'), `${length} bytes`).toThrow(broken)
  })

  it('values are sealed with the newest key version and open with every configured version', () => {
    const both = new MasterKeySealer(withNewKey(first))
    const [old, fresh] = [sealer.seal(Buffer.from('x'), 'c'), both.seal(Buffer.from('x'), 'c')]
    expect([keyVersionOf(old), keyVersionOf(fresh)]).toEqual([1, 2])
    expect([both.open(old, 'c').toString(), both.open(fresh, 'c').toString()]).toEqual(['x', 'x'])
    expect(() => sealer.open(fresh, 'c')).toThrow(/version 2/)
  })
})

describe('the master key', () => {
  it('the master key is 32 bytes in base64, alone or as a list of versions', () => {
    const bytes = Buffer.alloc(32, 9)
    expect(parseMasterKey(`${bytes.toString('base64')}\n`)).toEqual(new Map([[1, bytes]]))
    const keys = new Map([
      [3, bytes],
      [2, Buffer.alloc(32, 8)],
    ])
    expect(parseMasterKey(formatMasterKey(keys))).toEqual(keys)
  })

  it.each([
    '',
    'short',
    Buffer.alloc(31).toString('base64'),
    Buffer.alloc(33).toString('base64'),
    '0:',
    `${'A'.repeat(43)},${'B'.repeat(43)}`,
    `70000:${'A'.repeat(43)}`,
  ])('a master key is refused: %s', text => {
    expect(() => parseMasterKey(text)).toThrow(expect.objectContaining({ code: 'master_key_invalid' }))
  })

  it('the master key is created once in the home directory, readable by its user alone, also by concurrent processes', async () => {
    const home = await mkdtemp(join(tmpdir(), 'parley-home-'))
    try {
      const keys = await Promise.all(Array.from({ length: 8 }, () => loadMasterKey(undefined, home)))
      for (const key of keys) expect(key).toEqual(keys[0])
      expect(await loadMasterKey(undefined, home)).toEqual(keys[0])
      expect((await stat(join(home, 'master.key'))).mode & 0o777).toBe(0o600)
      expect(await readdir(home)).toEqual(['master.key'])
      expect(parseMasterKey(await readFile(join(home, 'master.key'), 'utf8'))).toEqual(keys[0])
      const given = Buffer.alloc(32, 5)
      expect(await loadMasterKey(given.toString('base64'), home)).toEqual(new Map([[1, given]]))
    } finally {
      await rm(home, { recursive: true })
    }
  })
})

describe('the master key of a database', () => {
  let test: TestDatabase
  beforeAll(async () => {
    test = await testDatabase()
  })
  afterAll(() => test?.close())

  it('a database refuses a master key other than that of its first start', async () => {
    await checkMasterKey(test.owner.url, sealer)
    await checkMasterKey(test.owner.url, sealer)
    const wrong = { code: 'master_key_wrong' }
    const other = new MasterKeySealer(new Map([[1, Buffer.alloc(32, 2)]]))
    await expect(checkMasterKey(test.owner.url, other)).rejects.toMatchObject(wrong)
    const newerAlone = new MasterKeySealer(new Map([[2, Buffer.alloc(32, 2)]]))
    await expect(checkMasterKey(test.owner.url, newerAlone)).rejects.toMatchObject(wrong)
  })

  it('a killed rotation of the master key continues where it stopped', async () => {
    const scope = await test.scope()
    await test.owner.query(
      "insert into parley.secrets (tenant_id, secret_id, kind, version) values ($1, 's', 'sip_auth', 1)",
      [scope.tenant_id],
    )
    const secrets = 450
    for (let version = 1; version <= secrets; version++)
      await test.owner.query(
        'insert into parley.secret_versions (tenant_id, secret_id, version, sealed) values ($1, $2, $3, $4)',
        [
          scope.tenant_id,
          's',
          version,
          sealer.seal(Buffer.from(`value ${version}`), secretSealContext(scope, 's', version)),
        ],
      )
    const request = { principal: 'p', operation: 'o', key: 'k' }
    await test.owner.query(
      `insert into parley.idempotency (tenant_id, principal, operation, key, request_hash, status, answer) values ($1, 'p', 'o', 'k', '\\x01', 200, $2), ($1, 'p', 'o', 'running', '\\x01', null, null)`,
      [scope.tenant_id, sealer.seal(Buffer.from('{}'), answerSealContext(scope, request))],
    )
    await ensureSigningKey(test.owner.url, sealer)
    const keys = withNewKey(first)
    const both = new MasterKeySealer(keys)
    // The third batch meets a value that does not open, as if the process died there.
    await test.owner.query(
      "update parley.secret_versions set sealed = set_byte(sealed, 20, 0) || '\\x00' where version = $1",
      [secrets],
    )
    await expect(rotateMasterKey(test.owner.url, both)).rejects.toMatchObject({ code: 'seal_broken' })
    const old = async () =>
      (await test.owner.query('select count(*)::int as n from parley.secret_versions where get_byte(sealed, 2) = 1'))
        .rows[0].n
    const left = await old()
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThan(secrets)
    await test.owner.query('update parley.secret_versions set sealed = $2 where version = $1', [
      secrets,
      sealer.seal(Buffer.from(`value ${secrets}`), secretSealContext(scope, 's', secrets)),
    ])
    expect(await rotateMasterKey(test.owner.url, both)).toBe(left + 2)
    expect(await old()).toBe(0)
    expect(await rotateMasterKey(test.owner.url, both)).toBe(0)
    const newOnly = new MasterKeySealer(new Map([[2, keys.get(2)!]]))
    await checkMasterKey(test.owner.url, newOnly)
    const { rows } = await test.owner.query('select version, sealed from parley.secret_versions order by version')
    for (const { version, sealed } of rows)
      expect(newOnly.open(sealed, secretSealContext(scope, 's', version)).toString()).toBe(`value ${version}`)
    const answers = await test.owner.query("select answer from parley.idempotency where key = 'k'")
    expect(newOnly.open(answers.rows[0].answer, answerSealContext(scope, request)).toString()).toBe('{}')
    const signing = await test.database.transaction(scope, tx => currentSigningKey(tx, newOnly))
    expect(signing.keyId).toBe((await test.database.signing.publicKeys())[0]!.kid)
    await expect(checkMasterKey(test.owner.url, sealer)).rejects.toMatchObject({ code: 'master_key_wrong' })
  })
})
