import { afterAll, describe, expect, it } from 'vitest'
import { closeTestVoice, patientVoice } from './engine.ts'
import { type SippResult, sippMessages } from './sipp.ts'
import { callsSipp, passed, sippCalls } from './sipp-calls.ts'
import { requires, SIPP_PROGRAMS } from './skip.ts'

const peer = requires(SIPP_PROGRAMS)
const patient = { voice: patientVoice }

/** Seconds by which a busy machine may lengthen a time, or shorten it where the first message of two was late. */
const LATE_S = 2

function expectSeconds(measured: number, expected: number): void {
  expect(measured).toBeGreaterThan(expected - LATE_S)
  expect(measured).toBeLessThan(expected + LATE_S)
}

/** From the first message that looks like `from` to the first one that looks like `to`. */
function secondsBetween(result: SippResult, from: RegExp, to: RegExp): number {
  const messages = sippMessages(result)
  const at = (look: RegExp) => messages.find(message => look.test(message.text))?.atMs ?? Number.NaN
  return (at(to) - at(from)) / 1000
}

// The RFCs fix these times: 64*T1 = 32 s, and 90 s as the least session interval, refreshed after 45 s.
describe.skipIf(peer.missing)(`timers of a call between the engine and SIPp${peer.note}`, { concurrent: true }, () => {
  afterAll(closeTestVoice)

  it('a caller that is the refresher and does not refresh gets a BYE from the engine before the session expires', async ({
    onTestFinished,
  }) => {
    const { under, result } = await sippCalls({ scenario: 'uac-expiry', maxSeconds: 100 }, onTestFinished, patient)
    expect(result.exitCode, result.output).toBe(0)
    expectSeconds(secondsBetween(result, /^SIP\/2\.0 200 /, /^BYE /), 60)
    const report = await under.nextReport()
    expect(report.end).toMatchObject({ answered: true, cause: 'timeout', confirmed: true })
    expect(report.run).toMatchObject({ state: 'failed', outcome: { detail: 'signalling_lost' } })
  })

  it('a called peer that is the refresher and does not refresh gets a BYE from the engine before the session expires', async ({
    onTestFinished,
  }) => {
    const { under, run } = await callsSipp({ scenario: 'uas-expiry', maxSeconds: 100 }, onTestFinished, patient)
    expectSeconds(secondsBetween(await passed(run), /^SIP\/2\.0 200 /, /^BYE /), 60)
    const report = await under.nextReport()
    expect(report.end).toMatchObject({ answered: true, cause: 'timeout', confirmed: true })
    expect(report.run).toMatchObject({ state: 'failed', outcome: { detail: 'signalling_lost' } })
  })

  it('an engine that is called and is the refresher sends UPDATE after half of the session interval', async ({
    onTestFinished,
  }) => {
    const { result } = await sippCalls({ scenario: 'uac-refreshed', maxSeconds: 80 }, onTestFinished, patient)
    expect(result.exitCode, result.output).toBe(0)
    expectSeconds(secondsBetween(result, /^SIP\/2\.0 200 /, /^UPDATE /), 45)
  })

  it('an engine that calls a peer without UPDATE refreshes by re-INVITE with an unchanged session description', async ({
    onTestFinished,
  }) => {
    const { run } = await callsSipp({ scenario: 'uas-refreshed', maxSeconds: 80 }, onTestFinished, patient)
    const result = await passed(run)
    const invites = sippMessages(result).filter(message => message.text.startsWith('INVITE '))
    const origins = invites.map(message => /^o=.*$/m.exec(message.text)?.[0])
    expect(origins).toHaveLength(2)
    expect(origins[1]).toBe(origins[0])
    expectSeconds((invites[1]!.atMs - invites[0]!.atMs) / 1000, 45)
  })

  it('the engine retransmits a 200 without ACK after 0.5, 1, 2, 4 s and so on, then ends the call with BYE', async ({
    onTestFinished,
  }) => {
    const { under, result } = await sippCalls({ scenario: 'uac-no-ack' }, onTestFinished)
    expect(result.exitCode, result.output).toBe(0)
    const messages = sippMessages(result)
    const answers = messages.filter(message => message.direction === 'received' && /^SIP\/2\.0 200 /.test(message.text))
    const gaps = answers.slice(1).map((answer, i) => (answer.atMs - answers[i]!.atMs) / 1000)
    const schedule = [0.5, 1, 2, 4, 4, 4, 4, 4, 4, 4]
    expect(gaps).toHaveLength(schedule.length)
    // The intervals themselves are tested in virtual time: here each is nearer to its own than to half or twice as much.
    for (const [i, gap] of gaps.entries()) {
      expect(gap, String(gaps)).toBeGreaterThan(schedule[i]! * 0.7)
      expect(gap, String(gaps)).toBeLessThan(schedule[i]! * 1.4 + 0.2)
    }
    const bye = messages.find(message => message.direction === 'received' && message.text.startsWith('BYE '))
    expectSeconds((bye!.atMs - answers[0]!.atMs) / 1000, 32)
    const report = await under.nextReport()
    expect(report.end).toMatchObject({ answered: false, cause: 'timeout' })
    expect(report.run).toMatchObject({ state: 'failed', outcome: { detail: 'signalling_lost' } })
  })

  it('a caller that refreshes by UPDATE stays connected', async ({ onTestFinished }) => {
    const { result } = await sippCalls({ scenario: 'uac-refresh', pauseMs: 1000 }, onTestFinished)
    expect(result.exitCode, result.output).toBe(0)
  })

  it('an INVITE with a session interval below 90 s is answered 422, and the next one with 90 s is accepted', async ({
    onTestFinished,
  }) => {
    const { result } = await sippCalls({ scenario: 'uac-interval-too-small', pauseMs: 500 }, onTestFinished)
    expect(result.exitCode, result.output).toBe(0)
  })

  it('a called peer that answers 422 gets a new INVITE with the longer interval that it demands', async ({
    onTestFinished,
  }) => {
    const { under, run } = await callsSipp({ scenario: 'uas-422' }, onTestFinished)
    await passed(run)
    expect((await under.nextReport()).end).toMatchObject({ answered: true, sipStatus: 200, confirmed: true })
  })
})
