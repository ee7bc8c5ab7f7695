import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ENV_USAGE } from './env.ts'
import { KEY_USAGE } from './key.ts'
import { MASTER_KEY_USAGE } from './master-key.ts'
import { ORG_USAGE } from './org.ts'
import { RATE_CARD_USAGE } from './rate-card.ts'
import { TRUNK_LIST_USAGE, TRUNK_SHOW_USAGE, TRUNK_USAGE } from './trunk.ts'
import { TRUNK_CHECK_USAGE } from './trunk-check.ts'

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
  '--port': [`${TRUNK}/trunk-address.ts`, 'port'],
  '--transport': [`${TRUNK}/trunk-address.ts`, 'transport'],
  '--media': [`${TRUNK}/trunk-details.ts`, 'media'],
  '--source': [`${TRUNK}/trunk-directory.ts`, 'source'],
  '--realms': [`${TRUNK}/dial-target.ts`, 'details.realms'],
  '--country': [`${TRUNK}/trunk-details.ts`, 'details.country'],
  '--cps': [`${TRUNK}/outbound-runs.ts`, 'details.cps'],
  '--inbound-cps': [`${TRUNK}/inbound-rate.ts`, 'details.inbound_cps'],
  '--codecs': [`${TRUNK}/trunk-details.ts`, 'codecs'],
  '--rtp-timeout': [`${TRUNK}/trunk-details.ts`, 'rtp_timeout'],
  '--identity': [`${TRUNK}/outbound-identity.ts`, 'details.identity'],
  '--asserted-identity': [`${TRUNK}/outbound-identity.ts`, 'asserted_identity'],
  '--privacy': [`${TRUNK}/outbound-identity.ts`, 'privacy'],
  '--diversion': [`${TRUNK}/outbound-identity.ts`, 'diversion'],
  '--headers-in': [`${TRUNK}/inbound-runs.ts`, 'details.headers_in'],
  '--headers-out': [`${TRUNK}/outbound-runs.ts`, 'details.headers_out'],
  '--number-format-in': [`${TRUNK}/trunk-numbers.ts`, 'number_format_in'],
  '--number-format-out': [`${TRUNK}/trunk-numbers.ts`, 'details.number_format_out'],
  '--prefix-in': [`${TRUNK}/trunk-numbers.ts`, 'prefix_in'],
  '--prefix-out': [`${TRUNK}/trunk-numbers.ts`, 'details.prefix_out'],
  '--refer': [`${TRUNK}/run-plan.ts`, 'details.refer'],
  '--session-expires': [`${TRUNK}/dial-target.ts`, 'session_expires'],
  '--dtmf': [`${TRUNK}/trunk-details.ts`, "dtmf === 'info'"],
  '--keep-alive': [`${TRUNK}/trunk-details.ts`, 'keep_alive'],
  '--ping': [`${TRUNK}/trunk-pings.ts`, 'details.ping'],
  '--to': ['packages/cli/src/admin/trunk-check.ts', 'to,'],
  '--from': ['packages/cli/src/admin/trunk-check.ts', 'from ?? trunk.first_number'],
  '--profile': ['packages/store/src/telephony/profiles/profiles.ts', 'profile'],
  '--register': [`${TRUNK}/trunk-registrations.ts`, 'details.register'],
  '--no-register': [`${TRUNK}/trunk-registrations.ts`, 'details.register'],
}

const usages = [
  ...ORG_USAGE,
  ...Object.values(ENV_USAGE),
  TRUNK_USAGE,
  TRUNK_LIST_USAGE,
  TRUNK_SHOW_USAGE,
  TRUNK_CHECK_USAGE,
  RATE_CARD_USAGE,
  KEY_USAGE,
  MASTER_KEY_USAGE,
]
const switchesOf = (usage: string) => usage.match(/--[a-z][a-z-]*/g) ?? []
const isAccountedFor = (name: string) => Object.hasOwn(READERS, name)

it('every switch of parley admin takes effect in a known file', () => {
  const switches = new Set(usages.flatMap(switchesOf))
  expect([...switches].filter(name => !isAccountedFor(name))).toEqual([])
  expect(Object.keys(READERS).filter(name => !switches.has(name))).toEqual([])
})

it('a switch that is missing from this register is reported', () => {
  expect(switchesOf('parley admin trunk set TRUNK [--colour NAME]').filter(name => !isAccountedFor(name))).toEqual([
    '--colour',
  ])
})

it.each(Object.entries(READERS))('the switch %s takes effect where the list says: %j', (_, [file, word]) => {
  expect(readFileSync(new URL(file, ROOT), 'utf8')).toContain(word)
})

it('every switch of the trunk commands is described in docs/operations.md', () => {
  const docs = readFileSync(new URL('docs/operations.md', ROOT), 'utf8')
  const switches = [TRUNK_USAGE, TRUNK_LIST_USAGE, TRUNK_SHOW_USAGE, TRUNK_CHECK_USAGE].flatMap(switchesOf)
  expect([...new Set(switches)].filter(name => !docs.includes(`\`${name}`))).toEqual([])
})
