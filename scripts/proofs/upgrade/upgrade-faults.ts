/** What was seen of an upgrade with `count` calls at each of three times. */
export interface UpgradeObservations {
  readonly count: number
  /** Runs that the API accepted. */
  readonly created: number
  /** Calls that reached the carrier, and those of them that our side ended. */
  readonly calls: number
  readonly cutOff: number
  /** Calls under way when the later version was ready. */
  readonly live: number
  /** Exit code of the earlier version's process; null: a signal ended it; `alive`: it did not end. */
  readonly exit: number | null | 'alive'
  readonly runs: readonly {
    readonly state: string
    readonly kind: string | null
    readonly webhooks: readonly string[]
  }[]
}

/** What is wrong with an upgrade, one sentence each; empty: nothing was lost and nothing happened twice. */
export function upgradeFaults({ count, created, calls, cutOff, live, exit, runs }: UpgradeObservations): string[] {
  const good = runs.filter(({ state, kind }) => state === 'completed' && kind === 'caller_hung_up').length
  const wrongWebhooks = runs.filter(({ webhooks }) => webhooks.join() !== 'run.started,run.ended').length
  return [
    ...(created === 3 * count ? [] : [`${created} requests of ${3 * count} were accepted`]),
    ...(runs.length === 3 * count ? [] : [`${runs.length} runs of ${3 * count}`]),
    ...(calls === 3 * count ? [] : [`${calls} calls of ${3 * count}`]),
    ...(live === count ? [] : [`${live} of ${count} calls were live when this version was ready`]),
    ...(cutOff === 0 ? [] : [`${cutOff} calls were cut off`]),
    ...(good === runs.length ? [] : [`${good} of ${runs.length} runs completed because the far end hung up`]),
    ...(wrongWebhooks === 0 ? [] : [`${wrongWebhooks} runs did not send exactly run.started and run.ended`]),
    ...(exit === 0 ? [] : [`the earlier process ended with ${exit}`]),
  ]
}
