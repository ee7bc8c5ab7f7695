import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readScenario } from './scenario.ts'

const FOLDER = join(import.meta.dirname, '../../scenarios')
const caller = '{ name: a, caller: { kind: script, steps: [{ says: Hello. }] } }'
const yaml = (rest: string) => `{ name: test, callers: [${caller}], ${rest} }`
const load = 'load: { calls: 1, hold_s: 1 }'

describe('scenarios of a load test', () => {
  it.each(readdirSync(FOLDER))('the scenario %s that ships is valid', file => {
    const scenario = readScenario(readFileSync(join(FOLDER, file), 'utf8'))
    expect(scenario.description).not.toBe('')
    expect(Object.keys(scenario.goals)).not.toEqual([])
  })

  it('the callers are the scripts of test cases, and the defaults are TLS with SRTP on one process', () => {
    const scenario = readScenario(yaml(load))
    expect(scenario).toMatchObject({ transport: 'tls', media: 'srtp', direction: 'calls', generator: { processes: 1 } })
    expect(scenario.callers[0]!.caller.steps[0]).toMatchObject({ says: 'Hello.', pause_before_ms: 300 })
  })

  it.each([
    [
      'both a rate and a number of calls',
      yaml('load: { calls: 1, per_second: 1, hold_s: 1 }'),
      /either calls or per_second/,
    ],
    ['SRTP keys over UDP', yaml(`${load}, transport: udp`), /SRTP sends its keys over TLS only/],
    ['an unknown field', yaml(`${load}, speed: 1`), /Unrecognized key/],
    ['no YAML', '{ name: [', /not YAML/],
    [
      'a wideband voice on a narrowband codec',
      yaml(load).replace('name: a,', 'name: a, voice: { voice_id: slt, channel: wideband },'),
      /needs the codec G722/,
    ],
    ['an unknown codec', yaml(`${load}, codecs: [MP3]`), /codecs\.0/],
    ['too many aliases', `a: &a [x]\nb: [${'*a,'.repeat(200)}]`, /not YAML|valid|Unrecognized/],
  ])('a scenario with %s is refused with a reason', (_what, text, reason) => {
    expect(() => readScenario(text)).toThrow(reason)
  })

  it('values of a scenario are changed from the command line', () => {
    const { load: changed, checks } = readScenario(yaml(load), ['load.calls=[1, 2]', 'checks.reply_ms=900'])
    expect(changed.calls).toEqual([1, 2])
    expect(checks.reply_ms).toBe(900)
    expect(() => readScenario(yaml(load), ['load'])).toThrow('is not a change')
    expect(() => readScenario(yaml(load), ['name.first=x'])).toThrow('no such place')
  })
})
