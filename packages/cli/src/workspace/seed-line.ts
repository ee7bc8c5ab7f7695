import { ParleyApiError, type ParleyClient } from '@parley/client'
import { PHONE_HOST, PHONE_USERNAME, phonePassword } from './built-in-phone.ts'
import { nullIfNotFound } from './null-if-not-found.ts'
import { ensureSecret, type PinnedSecret } from './seeded-secret.ts'

/** Id of the trunk and of its secret. */
const TRUNK = 'demo-phone'
/** Caller number of calls to the built-in phone. */
const CALLER_NUMBER = '+12025550144'

/** The trunk and caller number of seeded agents: `telephony` of a draft. */
interface OutboundLine {
  readonly trunkId: string
  readonly from: string
}

/**
 * Creates what is missing of the trunk to the built-in phone, its secret and its caller number; changes by users stay. Null,
 * with a printed reason, if the API refuses.
 */
export async function seedLine(
  home: string,
  client: ParleyClient,
  printLine: (line: string) => void,
): Promise<OutboundLine | null> {
  try {
    const value = await phonePassword(home)
    const secret = await ensureSecret(home, client, { id: TRUNK, kind: 'sip_auth', value })
    await ensureTrunk(client, secret)
    await ensureNumber(client)
    return { trunkId: TRUNK, from: CALLER_NUMBER }
  } catch (error) {
    if (!(error instanceof ParleyApiError) || error.status >= 500) throw error
    printLine(`No agent can call the built-in phone: ${error.message}`)
    return null
  }
}

async function ensureTrunk(client: ParleyClient, secret: PinnedSecret): Promise<void> {
  const params = { trunk_id: TRUNK }
  const known = await nullIfNotFound(client.trunks.get({ params }))
  const account = { auth_username: PHONE_USERNAME, auth_secret: secret }
  if (known === null) {
    const about = { name: 'The built-in phone', provider: 'generic_sip', termination_uri: PHONE_HOST } as const
    await client.trunks.create({ body: { ...params, ...about, ...account } })
    return
  }
  const { termination_uri, auth_username, auth_secret } = known
  const isUnchanged =
    termination_uri === PHONE_HOST && auth_username === PHONE_USERNAME && auth_secret?.id === secret.id
  // The password of the phone is new: with the old version of the secret the phone refuses every call.
  if (isUnchanged && auth_secret.version !== secret.version) await client.trunks.update({ params, body: account })
}

async function ensureNumber(client: ParleyClient): Promise<void> {
  for await (const { phone_number } of client.numbers.list.all({ query: { trunk_id: TRUNK } }))
    if (phone_number === CALLER_NUMBER) return
  await client.numbers.import({
    body: { phone_number: CALLER_NUMBER, trunk_id: TRUNK, name: 'Caller number of the demo' },
  })
}
