// Preact with htm: components are functions that return html`…`. Text is always put in as text nodes.
import { createContext, Fragment, h, render } from "../vendor/preact.js";
import {
  useCallback,
  useContext,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "../vendor/hooks.js";
import htm from "../vendor/htm.js";

export const html = htm.bind(h);
export {
  createContext,
  Fragment,
  render,
  useCallback,
  useContext,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
};
