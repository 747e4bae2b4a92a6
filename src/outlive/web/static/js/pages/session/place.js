// What every part of a session's page needs: where it is, and how to open what.
import { createContext, useContext } from "../../html.js";

export const SessionContext = createContext(null);
export const usePlace = () => useContext(SessionContext);

// Bands of the window, from the bottom up.
export const BANDS = {
  system: "System and tools",
  digest: "Digest",
  user: "Your words",
  assistant: "Answers",
  calls: "Calls",
  results: "Results",
  state: "State",
};
