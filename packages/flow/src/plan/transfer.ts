import type { TransferNode } from './node.ts'

/** What a transfer is, in a node or in an action. */
export type Transfer = Pick<TransferNode, 'transfer_destination' | 'transfer_option'>
export type TransferDestination = Transfer['transfer_destination']
