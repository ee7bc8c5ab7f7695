import type { TransferNode } from './node.ts'

export type TransferDestination = TransferNode['transfer_destination']
