import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemTime } from '@parley/kernel'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CertificateWatch } from './certificate-watch.ts'
import { ensureLocalCertificate, type LocalCertificate } from './local-authority.ts'
import { type Endpoint, options, TransportFixture } from './socket-transport.fixture.ts'

let bench: TransportFixture
let otherHome: TransportFixture
let dir: string
let first: LocalCertificate
let next: LocalCertificate

beforeEach(async () => {
  bench = new TransportFixture()
  otherHome = new TransportFixture('another authority')
  dir = await mkdtemp(join(tmpdir(), 'parley-watch-'))
  first = await bench.certificate()
  next = await otherHome.certificate()
})
afterEach(async () => {
  await bench.close()
  await otherHome.close()
  await rm(dir, { recursive: true })
})

const PARTS = ['cert', 'key', 'ca'] as const

/** In one go: what is read in between is seen at most once. */
function write(folder: string, from: LocalCertificate, parts: readonly (typeof PARTS)[number][] = PARTS): void {
  mkdirSync(folder, { recursive: true })
  for (const part of parts) writeFileSync(join(folder, `${part}.pem`), from[part])
}

async function readAll(folder: string) {
  const [cert, key, ca] = await Promise.all(PARTS.map(part => readFile(join(folder, `${part}.pem`), 'utf8')))
  return { cert: cert!, key: key!, ca: ca! }
}

/** An endpoint whose certificate stands in `folder`. */
async function watched(folder: string, load = () => readAll(folder)) {
  const current = await readAll(folder)
  const endpoint = await bench.endpoint({ tls: current })
  const problems: string[] = []
  let wake = () => {}
  let looks = 0
  const applied: number[] = []
  const watch = new CertificateWatch({
    time: systemTime,
    current,
    load: async () => {
      looks++
      wake()
      return load()
    },
    apply: tls => endpoint.transport.replaceCertificate(tls),
    onApplied: endsAt => {
      applied.push(endsAt)
      wake()
    },
    onProblem: detail => {
      problems.push(detail)
      wake()
    },
    everyMs: 5,
  })
  bench.defer(() => watch.stop())
  const until = async (condition: () => boolean) => {
    while (!condition())
      await new Promise<void>(resolve => {
        wake = resolve
      })
  }
  const afterLooks = (count: number) => {
    const enough = looks + count
    return until(() => looks >= enough)
  }
  return { endpoint, problems, applied, until, afterLooks }
}

async function reaches(from: Endpoint, to: Endpoint, id: string): Promise<boolean> {
  const sendId = from.send(to.target('tls'), options(id))
  const mine = () => from.told.find(input => 'sendId' in input && input.sendId === sendId)
  await from.untilTrue(() => mine() !== undefined)
  return mine()?.type === 'sent'
}

describe('CertificateWatch', () => {
  it('changed certificate files are used for new handshakes and dials, and no connection is lost', async () => {
    write(dir, first)
    const { endpoint, applied, until } = await watched(dir)
    const [ours, theirs] = [await bench.endpoint(), await otherHome.endpoint()]
    expect([await reaches(ours, endpoint, 'before'), await reaches(endpoint, theirs, 'refused')]).toEqual([true, false])
    const [standing] = await endpoint.until('message')
    write(dir, next)
    await until(() => applied.length === 1)
    expect(await reaches(theirs, endpoint, 'new root')).toBe(true)
    expect(await reaches(endpoint, theirs, 'dialled')).toBe(true)
    expect(await reaches(await bench.endpoint(), endpoint, 'old root')).toBe(false)
    endpoint.send(standing!.flow, options('still there'))
    await ours.until('message')
    expect([...ours.all('flow-closed'), ...endpoint.all('flow-closed')]).toEqual([])
    expect(endpoint.transport.stats().certificateEndsAt).toBe(applied[0])
    expect(applied[0]! / 86_400_000 - Date.now() / 86_400_000).toBeCloseTo(825, 0)
  })

  it('a certificate and key that do not match are reported once and not used until both match', async () => {
    write(dir, first)
    const { endpoint, problems, applied, until, afterLooks } = await watched(dir)
    write(dir, next, ['cert'])
    await until(() => problems.length === 1)
    await afterLooks(5)
    const before = await bench.endpoint()
    expect(await reaches(before, endpoint, 'old one')).toBe(true)
    write(dir, next, ['key', 'ca'])
    await until(() => applied.length === 1)
    expect(problems).toEqual([expect.stringContaining('another certificate')])
    expect(await reaches(await otherHome.endpoint(), endpoint, 'new one')).toBe(true)
  })

  it('a half-written file is not reported', async () => {
    write(dir, first)
    const seen = [first, { ...first, cert: next.cert }, next]
    const { problems, applied, until } = await watched(dir, async () => (seen.length > 1 ? seen.shift()! : seen[0]!))
    await until(() => applied.length === 1)
    expect(problems).toEqual([])
  })

  it('symbolic links that are swapped, as with mounted secrets, are followed', async () => {
    write(join(dir, 'one'), first)
    write(join(dir, 'two'), next)
    await symlink('one', join(dir, 'data'))
    const { endpoint, problems, applied, until } = await watched(join(dir, 'data'))
    await symlink('two', join(dir, 'swap'))
    await rename(join(dir, 'swap'), join(dir, 'data'))
    await until(() => applied.length === 1)
    expect(problems).toEqual([])
    expect(await reaches(await otherHome.endpoint(), endpoint, 'new one')).toBe(true)
  })

  it('missing, empty, invalid and expired files are reported once each, and the current certificate stays in use', async () => {
    write(dir, first)
    const { endpoint, problems, applied, until } = await watched(dir)
    const expired = await ensureLocalCertificate(join(dir, 'old'), { now: Date.now() - 1000 * 86_400_000 })
    const breaks: (() => void)[] = [
      () => rmSync(join(dir, 'key.pem')),
      () => writeFileSync(join(dir, 'key.pem'), ''),
      () => write(dir, { ...next, ca: 'no certificate' }),
      () => write(dir, expired),
    ]
    for (const [i, damage] of breaks.entries()) {
      damage()
      await until(() => problems.length > i)
    }
    expect(problems.map(problem => problem.slice(0, 40))).toEqual([
      expect.stringContaining('ENOENT'),
      expect.any(String),
      expect.any(String),
      expect.stringContaining('expired on'),
    ])
    expect(problems).toHaveLength(4)
    expect(applied).toEqual([])
    expect(await reaches(await bench.endpoint(), endpoint, 'old one')).toBe(true)
    write(dir, next)
    await until(() => applied.length === 1)
  })
})
