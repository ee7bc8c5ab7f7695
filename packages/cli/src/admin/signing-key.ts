import { addSigningKey } from '@parley/store'
import { sealerOf } from '../state.ts'

export const SIGNING_KEY_USAGE = 'parley admin signing-key rotate'

/** Adds a key that signs certificates from now on. The older public keys stay published, so that their certificates stay valid. */
export async function rotateSigningKey(
  settings: Parameters<typeof sealerOf>[0],
  ownerUrl: string,
): Promise<{ readonly version: number; readonly key_id: string }> {
  const { version, key } = await addSigningKey(ownerUrl, await sealerOf(settings, ownerUrl))
  return { version, key_id: key.kid }
}
