import type { FlowNode } from '@parley/nodes'

export type GlobalNodeSetting = NonNullable<FlowNode['global_node_setting']>
