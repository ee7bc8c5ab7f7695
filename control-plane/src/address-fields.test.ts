import { readFileSync } from 'node:fs'
import { draftContent, operations } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ADDRESS_FIELDS } from './testing/address-fields.ts'
import { settableFields } from './testing/settable-fields.ts'

const ROOT = new URL('../../', import.meta.url)
/** Names of fields that hold a URL, a host or an address. */
const ADDRESS = /(^|_)(url|uri|host|hosts|endpoint|origin|origins|server|address|domain)$/i

/** An import may set whatever a draft holds, also what no other request names. */
const EVERYTHING = [...operations, { id: 'agents.import', query: null, body: draftContent } as const]

/** Fields of a branch of a union of node or action types are listed once for each; all are the same field. */
function addressFields(of: Parameters<typeof settableFields>[0] = EVERYTHING): string[] {
  return settableFields(of)
    .map(({ name }) => name)
    .filter(name => ADDRESS.test(name.slice(name.lastIndexOf('.') + 1)))
}

describe('every URL or host that a tenant may set', () => {
  it('every URL or host that a tenant may set is registered with what is done with it', () => {
    expect(addressFields().toSorted()).toEqual(Object.keys(ADDRESS_FIELDS).toSorted())
  })

  it('a new field with a URL or a host is reported', () => {
    const body = z.strictObject({
      callback_url: z.string(),
      sip: z.strictObject({ host: z.string() }),
      name: z.string(),
    })
    expect(addressFields([{ id: 'keys.create', query: null, body }])).toEqual([
      'keys.create.callback_url',
      'keys.create.sip.host',
    ])
  })

  it.each(Object.entries(ADDRESS_FIELDS))(
    '%s goes through the checks of outbound addresses, or is never contacted',
    (_, use) => {
      if ('never' in use) return expect(use.never).toMatch(/\.$/)
      const codeOf = (file: string) => readFileSync(new URL(file, ROOT), 'utf8')
      if ('restrictedHop' in use) return expect(codeOf(use.restrictedHop)).toContain('isRestricted: true')
      for (const file of use.egress) expect(codeOf(file), file).toMatch(/\begress\.(prepare|send|lookupFor)\(/)
    },
  )
})
