import type { LegAnswer, LegRequest } from '@parley/flow'
import type { Receipt } from './ledger.ts'
import type { Inputs } from './replay/inputs.ts'

/** A flow's request that another agent continues the conversation. */
export type SwapRequest = LegRequest & { readonly type: 'swap_agent' }

/** Hands the conversation to another agent; resolves with the id of its run, null: none takes it. `effectId`: the row in the ledger. */
export type SwapAgent = (request: SwapRequest, effectId: string) => Promise<string | null>

const RUN_ID = { encode: (runId: string | null) => runId, decode: (stored: unknown) => stored as string | null }

/** Whether another agent takes the conversation is an input. `swap` undefined: none does. */
export function loggedSwap(swap: SwapAgent | undefined, inputs: Inputs): SwapAgent {
  return (request, effectId) =>
    inputs.call<string | null>(
      { kind: 'swap', request, codec: RUN_ID },
      async () => (await swap?.(request, effectId)) ?? null,
    )
}

/** What the flow is answered, and the receipt of the effect; `runId`: the run of the agent that takes over, null: none does. */
export function swapAnswer(runId: string | null): { readonly answer: LegAnswer; readonly receipt: Receipt | null } {
  if (runId === null) return { answer: { type: 'transfer_result', outcome: 'failed' }, receipt: null }
  return {
    answer: { type: 'transfer_result', outcome: 'taken' },
    receipt: { kind: 'transaction', table: 'runs', row_id: runId },
  }
}
