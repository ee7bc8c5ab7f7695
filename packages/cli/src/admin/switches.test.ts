import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ENV_USAGE } from './env.ts'
import { KEY_USAGE } from './key.ts'
import { MASTER_KEY_USAGE } from './master-key.ts'
import { ORG_USAGE } from './org.ts'
import { RATE_CARD_USAGE } from './rate-card.ts'
import { TRUNK_USAGE } from './trunk.ts'

const ROOT = new URL('../../../../', import.meta.url)
const TRUNK = 'packages/engine/src/runs'

/** The file in which each switch takes effect, and the word that stands for its value there. */
const READERS: Readonly<Record<string, readonly [file: string, word: string]>> = {
  '--env': ['packages/store/src/staff.ts', 'staffScope'],
  '--name': ['packages/store/src/staff.ts', 'name'],
  '--role': ['packages/store/src/staff.ts', 'role'],
  '--can-dial': ['packages/store/src/staff.ts', 'can_dial'],
  '--countries': ['packages/flow/src/policy/destination.ts', 'allowedCountries'],
  '--allow-prefix': ['packages/flow/src/policy/destination.ts', 'allowPrefixes'],
  '--port': [`${TRUNK}/outbound-runs.ts`, 'details.port'],
  '--transport': [`${TRUNK}/outbound-runs.ts`, 'details.transport'],
  '--media': [`${TRUNK}/trunk-details.ts`, 'media'],
  '--source': [`${TRUNK}/trunk-directory.ts`, 'source'],
  '--realms': [`${TRUNK}/outbound-runs.ts`, 'details.realms'],
  '--country': [`${TRUNK}/trunk-details.ts`, 'details.country'],
  '--cps': [`${TRUNK}/outbound-runs.ts`, 'details.cps'],
  '--inbound-cps': [`${TRUNK}/inbound-rate.ts`, 'details.inbound_cps'],
  '--codecs': [`${TRUNK}/trunk-details.ts`, 'codecs'],
  '--rtp-timeout': [`${TRUNK}/trunk-details.ts`, 'rtp_timeout'],
  '--identity': [`${TRUNK}/outbound-runs.ts`, 'details.identity'],
}

/** Switches without effect. The command prints a warning for them (tested with `parley admin`). */
const WITHOUT_EFFECT = ['--profile', '--register', '--no-register']

const usages = [...ORG_USAGE, ...Object.values(ENV_USAGE), TRUNK_USAGE, RATE_CARD_USAGE, KEY_USAGE, MASTER_KEY_USAGE]
const switchesOf = (usage: string) => usage.match(/--[a-z][a-z-]*/g) ?? []
const isAccountedFor = (name: string) => Object.hasOwn(READERS, name) || WITHOUT_EFFECT.includes(name)

it('every switch of parley admin takes effect in a known file, or is listed as without effect', () => {
  const switches = new Set(usages.flatMap(switchesOf))
  expect([...switches].filter(name => !isAccountedFor(name))).toEqual([])
  expect([...Object.keys(READERS), ...WITHOUT_EFFECT].filter(name => !switches.has(name))).toEqual([])
})

it('a switch that is missing from this register is reported', () => {
  expect(switchesOf('parley admin trunk set TRUNK [--colour NAME]').filter(name => !isAccountedFor(name))).toEqual([
    '--colour',
  ])
})

it.each(Object.entries(READERS))('the switch %s takes effect where the list says: %j', (_, [file, word]) => {
  expect(readFileSync(new URL(file, ROOT), 'utf8')).toContain(word)
})

it('the usage of parley admin trunk set names the switches without effect', () => {
  expect(TRUNK_USAGE).toContain('--profile and --register have no effect yet')
})
