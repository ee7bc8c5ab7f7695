import { errorsOf } from '@parley/kernel'

/** The errors of the example agents. */
export const ExamplesError = errorsOf({
  example_invalid: { retryable: false, text: 'The file of an example is not a valid draft of an agent.' },
})
