import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import { writeAudit } from '../audit.ts'
import { StoreError } from '../errors.ts'
import type { Queries } from '../protocol.ts'
import type { RunChannel, StoredRate } from '../schema-runs.ts'
import { statementTime } from '../statements.ts'

/** Prices of usage. For each meter the most specific rate applies: the one with most criteria, then model before provider before channel. */
export interface RateCard {
  readonly rate_card_id: string
  /** ISO time. */
  readonly effective_at: string
  /** USD as decimal strings: the amount that a run of the channel reserves of the cap until it is priced. */
  readonly reserve_usd: Readonly<Record<RunChannel, string>>
  readonly rates: readonly StoredRate[]
}

/** The card in force: the one with the latest effective time. Null: usage is not priced. */
export async function readRateCard(db: Queries, scope: Scope): Promise<RateCard | null> {
  const row = await db
    .selectFrom('rate_cards')
    .select(['rate_card_id', 'effective_at', 'reserve_usd', 'rates'])
    .where('tenant_id', '=', scope.tenant_id)
    .where(sql<boolean>`effective_at <= clock_timestamp()`)
    .orderBy('effective_at', 'desc')
    .orderBy('installed_at', 'desc')
    .orderBy('rate_card_id')
    .limit(1)
    .executeTakeFirst()
  return row ?? null
}

/**
 * Installs a card; runs are priced by the card in force at their admission. `effective_at` null: now. The first card of
 * an environment creates its first budget policy, without a cap. Throws `rate_card_exists` if the id is in use.
 */
export async function installRateCard(
  tx: Queries,
  scope: Scope,
  card: Omit<RateCard, 'effective_at'> & { readonly effective_at: string | null },
): Promise<void> {
  const made = await tx
    .insertInto('rate_cards')
    .values({
      tenant_id: scope.tenant_id,
      rate_card_id: card.rate_card_id,
      effective_at: card.effective_at ?? statementTime,
      reserve_usd: JSON.stringify(card.reserve_usd),
      rates: JSON.stringify(card.rates),
    })
    .onConflict(conflict => conflict.doNothing())
    .returning('rate_card_id')
    .executeTakeFirst()
  if (made === undefined)
    throw new StoreError(
      'rate_card_exists',
      `there is a rate card ${JSON.stringify(card.rate_card_id)}: give this one another id`,
    )
  await tx
    .insertInto('budgets')
    .values({ tenant_id: scope.tenant_id, cap_usd: null })
    .onConflict(conflict => conflict.doNothing())
    .execute()
  const { owner_id, environment } = scope
  await writeAudit(tx, scope, {
    principal: { owner_id, environment, kind: 'system', id: 'staff' },
    action: 'staff.install_rate_card',
    resource: { kind: 'operation', id: `rate-cards/${card.rate_card_id}` },
    outcome: 'allowed',
    request_id: null,
  })
}
