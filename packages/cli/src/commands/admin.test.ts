import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatMasterKey, loadMasterKey, MasterKeySealer, postgresBus, withNewKey } from '@parley/store'
import { keyHash, parseMasterKey, secretSealContext, type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UsageError } from '../usage.ts'
import { adminAnswer } from './admin.ts'

let test: TestDatabase
let home: string
beforeAll(async () => {
  test = await testDatabase()
  home = await mkdtemp(join(tmpdir(), 'parley-admin-'))
})
afterAll(async () => {
  await test?.close()
  await rm(home, { recursive: true, force: true })
})

interface Printed {
  readonly owner_id: string
  readonly tenant_id: string
  readonly secret: string
  readonly master_key: string
}

/** Runs `parley admin` with the words of `line` and returns the printed value. */
const admin = async (line: string, masterKey: string | null = null) =>
  (await adminAnswer(line.split(' '), () => ({
    home,
    databaseUrl: test.owner.url,
    redisUrl: null,
    masterKey,
  }))) as Printed

describe('parley admin', () => {
  it('staff create an organisation, a working key and an environment that may place calls', async () => {
    const { tenant_id, owner_id } = await admin('org create --name Clinic')
    expect(await admin('org list')).toMatchObject({ items: [{ owner_id, name: 'Clinic' }] })
    // The only production environment needs no --env.
    await admin('env set-capacity 20')
    await admin('env set-admission on')
    await admin('env set-rate-limit 50 100')
    await admin('env set-destinations --countries de,US --countries FR --allow-prefix +49180,+1900')
    expect(await admin('env show')).toMatchObject({
      tenant_id,
      concurrent_capacity: 20,
      admission_enabled: true,
      rate_limit: { per_second: 50, burst: 100 },
      destinations: { countries: ['DE', 'US', 'FR'], allow_prefixes: ['+49180', '+1900'] },
    })
    const key = await admin('key create --name first --role admin')
    expect(await test.database.keyOf(keyHash(key.secret))).toMatchObject({ role: 'admin', scope: { tenant_id } })

    const other = await test.scope()
    await expect(admin('env set-capacity 5')).rejects.toThrow(`${other.tenant_id}  production of "Test"`)
    expect(await admin(`env set-capacity 5 --env ${other.tenant_id}`)).toMatchObject({ concurrent_capacity: 5 })
    expect(await admin(`env show --env ${tenant_id}`)).toMatchObject({ concurrent_capacity: 20 })
    expect(await admin(`env set-rate-limit default --env ${tenant_id}`)).toMatchObject({ rate_limit: null })
    expect(await admin(`env set-destinations --countries none --env ${tenant_id}`)).toMatchObject({
      destinations: { countries: [], allow_prefixes: [] },
    })
    expect(await admin(`env set-destinations --countries default --env ${tenant_id}`)).toMatchObject({
      destinations: null,
    })
  })

  it('number confirm gives calls without a token to one environment, and takes them from another only with --move', async () => {
    const [first, second] = [await test.scope(), await test.scope()]
    for (const { tenant_id } of [first, second]) {
      await test.owner.query(
        `insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound)
         values ($1, 'main', 'Main', 'generic_sip', 'sip.example.com', true)`,
        [tenant_id],
      )
      await test.owner.query(
        "insert into parley.numbers (tenant_id, phone_number, trunk_id) values ($1, '+12025550142', 'main')",
        [tenant_id],
      )
    }
    const claims = async () =>
      (
        await test.owner.query(
          "select tenant_id, number_id, confirmed_at is not null as confirmed from parley.numbers where phone_number = '+12025550142' order by tenant_id",
        )
      ).rows
    const [one, other] = await claims()
    const answer = { tenant_id: first.tenant_id, phone_number: '+12025550142', trunk_id: 'main', inbound: 'address' }
    expect(await admin(`number confirm ${one.number_id}`)).toEqual({ ...answer, number_id: one.number_id })
    expect(await admin(`number confirm ${one.number_id}`)).toEqual({ ...answer, number_id: one.number_id })
    await expect(admin(`number confirm ${other.number_id}`)).rejects.toThrow(
      `the claim of the environment ${first.tenant_id} to +12025550142 is confirmed`,
    )
    await admin(`number confirm ${other.number_id} --move`)
    expect((await claims()).map(({ confirmed }) => confirmed)).toEqual([false, true])
    await expect(admin('number confirm nonsense')).rejects.toThrow('no environment has a number with the id "nonsense"')
  })

  it('trunk set sets and resets the details of a trunk', async () => {
    const { tenant_id } = await test.scope()
    await test.owner.query(
      `insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound)
       values ($1, 'main', 'Main', 'generic_sip', 'sip.example.com', false)`,
      [tenant_id],
    )
    const all =
      '--port 5070 --transport udp --media rtp --source 192.0.2.0/24,2001:db8::1 --country de --cps 5 --inbound-cps 7 --profile generic --identity +4930123456 --register'
    expect(await admin(`trunk set main ${all} --env ${tenant_id}`)).toEqual({
      tenant_id,
      trunk_id: 'main',
      details: {
        port: 5070,
        transport: 'udp',
        media: 'rtp',
        source: ['192.0.2.0/24', '2001:db8::1'],
        country: 'DE',
        cps: 5,
        inbound_cps: 7,
        profile: 'generic',
        identity: '+4930123456',
        register: true,
      },
      warnings: [expect.stringContaining('--register has no effect while the trunk takes no inbound calls')],
    })
    const less =
      '--port default --source default --profile default --identity default --country default --cps default --inbound-cps default --no-register'
    expect(await admin(`trunk set main ${less} --env ${tenant_id}`)).toMatchObject({
      details: { transport: 'udp', media: 'rtp', register: false },
      warnings: [],
    })
    await expect(admin(`trunk set other --port 1 --env ${tenant_id}`)).rejects.toThrow('it has main')
  })

  it('trunk set --codecs stores the codecs of a trunk in order of preference, in either case, and resets them', async () => {
    const { tenant_id } = await test.scope()
    await test.owner.query(
      `insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound)
       values ($1, 'wide', 'Wide', 'generic_sip', 'sip.example.com', false)`,
      [tenant_id],
    )
    const set = (codecs: string) => admin(`trunk set wide --codecs ${codecs} --env ${tenant_id}`)
    expect(await set('g722,PCMU')).toMatchObject({ details: { codecs: ['G722', 'PCMU'] } })
    for (const wrong of ['G729', 'PCMU,PCMU', 'PCMU,,PCMA'])
      await expect(set(wrong)).rejects.toThrow('--codecs takes PCMU, PCMA, G722, OPUS, each once, separated by commas')
    expect(await set('default')).toMatchObject({ details: {} })
    const { rows } = await test.owner.query('select details from parley.trunks where trunk_id = $1', ['wide'])
    expect(rows).toEqual([{ details: {} }])
  })

  it('trunk set --realms stores the realms that may get the credentials of a trunk, and resets them', async () => {
    const { tenant_id } = await test.scope()
    await test.owner.query(
      `insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound)
       values ($1, 'digest', 'Digest', 'generic_sip', 'sip.example.com', false)`,
      [tenant_id],
    )
    const set = (realms: string) => admin(`trunk set digest --realms ${realms} --env ${tenant_id}`)
    expect(await set('carrier.example,asterisk')).toMatchObject({
      details: { realms: ['carrier.example', 'asterisk'] },
    })
    await expect(set('x'.repeat(129))).rejects.toThrow('--realms takes 1 to 128 characters')
    expect(await set('default')).toMatchObject({ details: {} })
  })

  it('trunk set warns of a trunk whose SRTP keys have no TLS', async () => {
    const { tenant_id } = await test.scope()
    await test.owner.query(
      `insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound)
       values ($1, 'plain', 'Plain', 'generic_sip', 'sip.example.com', false)`,
      [tenant_id],
    )
    const set = (switches: string) => admin(`trunk set plain ${switches} --env ${tenant_id}`)
    expect(await set('--transport udp')).toMatchObject({
      warnings: [expect.stringContaining('--transport udp carries no SRTP keys')],
    })
    expect(await set('--media srtp-without-tls')).toMatchObject({
      details: { media: 'srtp-without-tls' },
      warnings: [],
    })
  })

  it('trunk set stores identity, headers and number formats, and resets them', async () => {
    const { tenant_id } = await test.scope()
    await test.owner.query(
      `insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound)
       values ($1, 'named', 'Named', 'generic_sip', 'sip.example.com', false)`,
      [tenant_id],
    )
    const set = (line: string) => admin(`trunk set named ${line} --env ${tenant_id}`)
    const identity =
      '--asserted-identity caller --privacy id,critical --diversion +49305555 --headers-in X-Foo --headers-out X-Foo,X-Bar'
    const numbers =
      '--number-format-in national --number-format-out digits --prefix-in 9 --prefix-out 00 --refer off --session-expires 600 --dtmf info --keep-alive 10 --ping 60'
    expect(await set(`${identity} ${numbers}`)).toMatchObject({
      details: {
        asserted_identity: 'caller',
        privacy: ['id', 'critical'],
        diversion: '+49305555',
        headers_in: ['X-Foo'],
        headers_out: ['X-Foo', 'X-Bar'],
        number_format_in: 'national',
        number_format_out: 'digits',
        prefix_in: '9',
        prefix_out: '00',
        refer: false,
        session_expires: 600,
        dtmf: 'info',
        keep_alive: 10,
        ping: 60,
      },
      warnings: [],
    })
    const defaults = `${identity} ${numbers}`.replaceAll(/(--[a-z0-9-]+) \S+/g, '$1 default')
    expect(await set(defaults)).toMatchObject({ details: {} })
    const { rows } = await test.owner.query('select details from parley.trunks where trunk_id = $1', ['named'])
    expect(rows).toEqual([{ details: {} }])
  })

  it('trunk show prints the settings of the profile and the health of the trunk, trunk list that of every trunk', async () => {
    const { tenant_id } = await test.scope()
    await test.owner.query(
      `insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound, inbound_token, details)
       values ($1, 'shown', 'Shown', 'generic_sip', 'sip.example.com', true, $2, $3)`,
      [tenant_id, `token-${tenant_id}`, JSON.stringify({ profile: 'vonage', register: true })],
    )
    await test.owner.query(
      `insert into parley.trunk_registrations (tenant_id, trunk_id, fence, engine_id, state, sip_status, detail)
       values ($1, 'shown', 1, 'engine-1', 'failed', 403, 'REGISTER answered 403 Forbidden')`,
      [tenant_id],
    )
    expect(await admin(`trunk show shown --env ${tenant_id}`)).toMatchObject({
      trunk_id: 'shown',
      details: { profile: 'vonage', register: true },
      in_force: { register: true, number_format_out: 'digits' },
      health: {
        window_s: 3600,
        outbound: { calls: 0, asr: null },
        ping: null,
        registration: { state: 'failed', sip_status: 403, detail: 'REGISTER answered 403 Forbidden' },
      },
    })
    expect(await admin(`trunk list --env ${tenant_id}`)).toMatchObject({
      trunks: [{ trunk_id: 'shown', ping: null, registration: 'failed', outbound: { calls: 0 } }],
    })
    await expect(admin(`trunk show other --env ${tenant_id}`)).rejects.toThrow('it has shown')
  })

  it('number forget makes agents forget the calls with a number, and takes no other form of it', async () => {
    const { tenant_id } = await test.scope()
    expect(await admin(`number forget +4930222 --env ${tenant_id}`)).toMatchObject({
      tenant_id,
      phone_number: '+4930222',
    })
    await expect(admin(`number forget 030222 --env ${tenant_id}`)).rejects.toThrow('must be in E.164')
    const { rows } = await test.owner.query('select phone_number from parley.forgotten_numbers where tenant_id = $1', [
      tenant_id,
    ])
    expect(rows).toEqual([{ phone_number: '+4930222' }])
  })

  it('running processes are notified of the changes of staff', async () => {
    const { tenant_id } = await test.scope()
    const bus = postgresBus({ url: test.owner.url })
    try {
      const notified = new Promise<string>(resolve => {
        bus.subscribe('tenants', resolve)
      })
      await new Promise<void>(resolve => {
        bus.subscribe('tenants', () => {}, resolve)
      })
      await admin(`env set-admission off --env ${tenant_id}`)
      expect(await notified).toBe(tenant_id)
    } finally {
      await bus.close()
    }
  })

  it.each([
    ['', 'usage:'],
    ['org', 'usage:'],
    ['constructor create', 'usage:'],
    ['org create', '--name takes 1 to 256 characters'],
    ['org list more', 'usage: parley admin org list'],
    ['env set-capacity', 'usage: parley admin env set-capacity'],
    ['env set-capacity 100001', 'set-capacity takes a whole number, 0 to 100000, not "100001"'],
    ['env set-capacity 1e3', 'set-capacity takes a whole number'],
    ['env set-admission yes', 'set-admission takes on or off, not "yes"'],
    ['env set-rate-limit 0 5', 'PER_SECOND takes a whole number, 1 to'],
    ['env set-rate-limit 5', 'usage: parley admin env set-rate-limit'],
    ['env set-destinations', 'usage: parley admin env set-destinations'],
    ['env set-destinations --countries USA', '--countries takes countries as two-letter codes'],
    ['env set-destinations --countries EU', '--countries takes countries'],
    ['env set-destinations --countries US,,DE', '--countries takes countries'],
    ['env set-destinations --countries US --allow-prefix 49', '--allow-prefix takes the beginning of a number'],
    ['env set-destinations --countries default --allow-prefix +49', '--allow-prefix needs --countries'],
    ['trunk set', 'usage: parley admin trunk set'],
    ['trunk set main', 'give at least one detail to set'],
    ['trunk set main --port 65536', '--port takes a whole number, 1 to 65535'],
    ['trunk set main --transport sctp', '--transport takes udp or tcp or tls'],
    ['trunk set main --source 0.0.0.0/0', '--source takes addresses or networks'],
    ['trunk set main --source 10.0.0.1/8', '--source takes addresses or networks'],
    ['trunk set main --identity a@b', '--identity takes a number or the user part'],
    ['trunk set main --register --no-register', 'give only one of them'],
    ['trunk list main', 'usage: parley admin trunk list'],
    ['trunk show', 'usage: parley admin trunk show'],
    ['trunk set main --profile plain', '--profile takes twilio or telnyx or bandwidth or vonage or generic'],
    ['trunk set main --privacy id,none', '--privacy takes "none" alone'],
    ['trunk set main --privacy critical', '"critical" only with another value'],
    ['trunk set main --privacy anonymous', '--privacy takes id or user'],
    ['trunk set main --diversion <sip:a@b>', '--diversion takes a number or the user part'],
    ['trunk set main --headers-in Authorization', 'cannot take Authorization'],
    ['trunk set main --headers-out X-Foo,Via', 'cannot take Via'],
    ['trunk set main --headers-out Privacy', 'cannot take Privacy'],
    ['trunk set main --headers-in X_Foo', '--headers-in takes names of headers'],
    ['trunk set main --number-format-out local', '--number-format-out takes e164 or digits or national'],
    ['trunk set main --prefix-out +1', '--prefix-out takes 1 to 16 digits'],
    ['trunk set main --session-expires 60', '--session-expires takes a whole number, 90 to 86400'],
    ['trunk set main --ping 14', '--ping takes a whole number, 15 to 3600'],
    ['trunk set main --refer no', '--refer takes on or off'],
    ['trunk set main --prot 5060', '--prot'],
    ['key create --name a --role owner', '--role takes viewer or member or admin, not "owner"'],
    ['key create --name a --role viewer --can-dial', 'a viewer cannot dial'],
    ['key create --role admin', '--name takes 1 to 128 characters'],
    ['master-key', 'usage:'],
  ])('the arguments "%s" are refused before the database is contacted', async (line, message) => {
    const answer = adminAnswer(line.split(' '), () => {
      throw new Error('the settings must not be read')
    })
    await expect(answer).rejects.toBeInstanceOf(UsageError)
    await expect(answer).rejects.toThrow(message)
  })

  it('without a running database the error says what to do', async () => {
    const answer = adminAnswer(['org', 'list'], () => ({ home, databaseUrl: null, redisUrl: null, masterKey: null }))
    await expect(answer).rejects.toThrow('start Parley there, or set DATABASE_URL')
  })
})

describe('parley admin master-key rotate', () => {
  const seal = async (sealer: MasterKeySealer) => {
    const scope = await test.scope()
    await test.owner.query(
      "insert into parley.secrets (tenant_id, secret_id, kind, version) values ($1, 's', 'http_auth', 1)",
      [scope.tenant_id],
    )
    const sealed = sealer.seal(Buffer.from('the secret'), secretSealContext(scope, 's', 1))
    await test.owner.query(
      'insert into parley.secret_versions (tenant_id, secret_id, version, sealed) values ($1, $2, 1, $3)',
      [scope.tenant_id, 's', sealed],
    )
    return async (key: string) => {
      const { rows } = await test.owner.query('select sealed from parley.secret_versions where tenant_id = $1', [
        scope.tenant_id,
      ])
      return String(new MasterKeySealer(parseMasterKey(key)).open(rows[0].sealed, secretSealContext(scope, 's', 1)))
    }
  }

  it('with the key in its file, the first run adds a key and the second, after a restart, reseals everything under it', async () => {
    const secret = await seal(new MasterKeySealer(await loadMasterKey(undefined, home)))
    const file = join(home, 'master.key')
    expect(await admin('master-key rotate')).toMatchObject({ step: 'new_key', version: 2 })
    const both = await readFile(file, 'utf8')
    expect(await secret(both)).toBe('the secret')
    expect(await admin('master-key rotate')).toMatchObject({ step: 'done', version: 2, resealed: 1 })
    const alone = await readFile(file, 'utf8')
    expect([...parseMasterKey(alone).keys()]).toEqual([2])
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await secret(alone)).toBe('the secret')
    // The next rotation starts from the beginning.
    expect(await admin('master-key rotate')).toMatchObject({ step: 'new_key', version: 3 })
    await writeFile(file, alone)
  })

  it('with the key in the variable, the new value is printed, and everything is resealed once it is set', async () => {
    const own = parseMasterKey(await readFile(join(home, 'master.key'), 'utf8'))
    const secret = await seal(new MasterKeySealer(own))
    const first = await admin('master-key rotate', formatMasterKey(own))
    expect(await admin('master-key rotate', first.master_key)).toMatchObject({ step: 'done', version: 3 })
    expect(await secret(first.master_key)).toBe('the secret')
    const stranger = formatMasterKey(withNewKey(parseMasterKey(Buffer.alloc(32, 7).toString('base64'))))
    await expect(admin('master-key rotate', stranger)).rejects.toMatchObject({ code: 'master_key_wrong' })
  })
})
