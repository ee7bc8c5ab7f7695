/** Of every verdict that this version of Parley gives; it changes when the rules do. */
export const POLICY_VERSION = '1'
