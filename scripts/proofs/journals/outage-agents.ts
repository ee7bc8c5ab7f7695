import type { Draft } from '@parley/flow'
import {
  draftOf,
  endNode,
  equationEdge,
  promptEdge,
  staticNode,
  staticText,
} from '../../../interop/conversation-flows.ts'

type Notification = NonNullable<Draft['notification']>

/** Speaks one numbered sentence a second until the call ends, so that its timeline grows all the time. */
export function counter(notification: Notification): Draft {
  const numbers = Array.from({ length: 80 }, (_, i) =>
    staticNode(`n${i}`, `This is number ${i}.`, {
      skip_response_edge: promptEdge(`on${i}`, `n${i + 1}`, 'Skip response'),
    }),
  )
  return draftOf([...numbers, endNode('n80', 'That is all.')], {}, { notification })
}

/** Sends the order of the caller, says its number and ends. */
export function clerk(origin: string, notification: Notification): Draft {
  return draftOf(
    [
      staticNode('hello', 'What can I bring you?', { always_edge: promptEdge('go', 'order', 'Always') }),
      {
        id: 'order',
        type: 'function',
        tool_id: 'order',
        wait_for_result: true,
        speak_during_execution: true,
        instruction: staticText('One moment, I ask the kitchen.'),
        edges: [equationEdge('taken', 'ordered', 'current_action_outcome', '==', 'succeeded')],
        else_edge: promptEdge('failed', 'closed'),
      },
      endNode('ordered', 'Your order has number {{order_number}}.'),
      endNode('closed', 'The kitchen does not answer. Goodbye.'),
    ],
    {},
    {
      notification,
      actions: [
        {
          action_id: 'order',
          kind: 'http',
          name: 'place_order',
          method: 'POST',
          url: `${origin}/orders`,
          timeout_ms: 60_000,
          parameters: { type: 'object', properties: {} },
          response_variables: { order_number: '$.number' },
        },
      ],
    },
  )
}
