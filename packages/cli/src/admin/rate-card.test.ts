import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scope } from '@parley/contract'
import { readBudget, readRateCard } from '@parley/store'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminAnswer } from '../commands/admin.ts'
import { UsageError } from '../usage.ts'

let home: string
let test: TestDatabase
let scope: Scope
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-rate-card-'))
  test = await testDatabase()
  scope = await test.scope()
})
afterAll(async () => {
  await test?.close()
  await rm(home, { recursive: true, force: true })
})

const admin = (...args: string[]) =>
  adminAnswer(args, () => ({ home, databaseUrl: test.owner.url, redisUrl: null, masterKey: null }))

const CARD = {
  rate_card_id: 'winter',
  reserve_usd: { phone: '0.50', web: '0.50', cloud: '0.05' },
  rates: [
    { meter: 'connected_ms', per: 60_000, price_usd: '0.02', channel: 'phone' },
    { meter: 'llm_input_tokens', per: 1_000_000, price_usd: '3' },
  ],
}

async function fileOf(content: unknown): Promise<string> {
  const file = join(home, 'card.json')
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

describe('parley admin rate-card install', () => {
  it('a rate card takes effect, and the first one creates the budget policy', async () => {
    const answer = await admin('rate-card', 'install', await fileOf(CARD))
    expect(answer).toEqual({ tenant_id: scope.tenant_id, rate_card_id: 'winter', effective_at: null, rates: 2 })
    const db = test.database.within(scope)
    expect(await readRateCard(db, scope)).toMatchObject({
      rate_card_id: 'winter',
      reserve_usd: CARD.reserve_usd,
      rates: [
        { ...CARD.rates[0], provider: null, model_id: null },
        { ...CARD.rates[1], channel: null, provider: null, model_id: null },
      ],
    })
    expect(await readBudget(db, scope)).toMatchObject({ configured: true, cap_usd: null })
    await expect(admin('rate-card', 'install', await fileOf(CARD))).rejects.toThrow('there is a rate card "winter"')
  })

  it('an invalid file is refused with its faults', async () => {
    const wrong = {
      ...CARD,
      currency: 'EUR',
      reserve_usd: { ...CARD.reserve_usd, phone: 0.5 },
      rates: [{ meter: 'steps', per: 0, price_usd: '-1' }],
    }
    const message = await admin('rate-card', 'install', await fileOf(wrong)).catch((error: Error) => error.message)
    for (const place of ['/currency', '/reserve_usd/phone', '/rates/0/meter', '/rates/0/per', '/rates/0/price_usd'])
      expect(message).toContain(`\n  ${place}  `)
    await expect(admin('rate-card', 'install', await fileOf('{'))).rejects.toThrow('is not JSON')
    await expect(admin('rate-card', 'install', join(home, 'absent.json'))).rejects.toThrow('absent.json')
    await expect(admin('rate-card', 'install')).rejects.toBeInstanceOf(UsageError)
  })
})
