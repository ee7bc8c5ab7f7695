import type { Vendor } from '../vendor.ts'
import { RulesModel } from './rules/rules-model.ts'

/** The vendor of the built-in model "rules-1". */
export const parley: Vendor = {
  name: 'parley',
  settings: null,
  models: [
    { models: ['rules-1'], open: () => new RulesModel(), title: 'Parley rules (matches words, needs no service)' },
  ],
}
