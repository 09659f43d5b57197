/**
 * Random histories of core's tests are the same ones in every run of the gate: that all branches are reached must not be a
 * matter of luck. The soak draws anew each time, and finds what these do not.
 */
import fc from 'fast-check'
import { soaking } from './scale.ts'

if (!soaking) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_116 })
