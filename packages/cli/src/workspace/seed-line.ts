import { ParleyApiError, type ParleyClient } from '@parley/client'
import { PHONE_HOST, PHONE_USERNAME, phonePassword } from './built-in-phone.ts'
import { orNull } from './or-null.ts'
import { ensureSecret, type PinnedSecret } from './seeded-secret.ts'

/** Trunk and secret have this name. */
const TRUNK = 'demo-phone'
/** Caller number that the built-in phone sees. */
const SHOWN_NUMBER = '+12025550144'

/** Over which trunk seeded agents call, and which number they show: `telephony` of a draft. */
interface OutboundLine {
  readonly trunkId: string
  readonly from: string
}

/**
 * The trunk behind which the built-in phone answers, with a number that calls over it may show: what is missing of it is
 * made, what people made of it stays. Null, and told why, where the environment has no room for it.
 */
export async function seedLine(
  home: string,
  client: ParleyClient,
  tell: (line: string) => void,
): Promise<OutboundLine | null> {
  try {
    const value = await phonePassword(home)
    const secret = await ensureSecret(home, client, { id: TRUNK, kind: 'sip_auth', value })
    await ensureTrunk(client, secret)
    await ensureNumber(client)
    return { trunkId: TRUNK, from: SHOWN_NUMBER }
  } catch (error) {
    if (!(error instanceof ParleyApiError) || error.status >= 500) throw error
    tell(`No agent can call the built-in phone: ${error.message}`)
    return null
  }
}

async function ensureTrunk(client: ParleyClient, secret: PinnedSecret): Promise<void> {
  const params = { trunk_id: TRUNK }
  const known = await orNull(client.trunks.get({ params }))
  const account = { auth_username: PHONE_USERNAME, auth_secret: secret }
  if (known === null) {
    const about = { name: 'The built-in phone', provider: 'generic_sip', termination_uri: PHONE_HOST } as const
    await client.trunks.create({ body: { ...params, ...about, ...account } })
    return
  }
  const { termination_uri, auth_username, auth_secret } = known
  const isOurs = termination_uri === PHONE_HOST && auth_username === PHONE_USERNAME && auth_secret?.id === secret.id
  // The home has a new password: with the old version of the secret every call would be refused.
  if (isOurs && auth_secret.version !== secret.version) await client.trunks.update({ params, body: account })
}

async function ensureNumber(client: ParleyClient): Promise<void> {
  for await (const { phone_number } of client.numbers.list.all({ query: { trunk_id: TRUNK } }))
    if (phone_number === SHOWN_NUMBER) return
  await client.numbers.import({ body: { phone_number: SHOWN_NUMBER, trunk_id: TRUNK, name: 'Shown to who is called' } })
}
