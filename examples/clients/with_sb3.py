"""stable-baselines3 and sb3-contrib: MaskablePPO on four processes, evaluated as it learns, saved and loaded.

pip install 'auction_env[train]'
python examples/clients/with_sb3.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import gymnasium
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.wrappers import ActionMasker
from stable_baselines3.common.callbacks import StopTrainingOnNoModelImprovement
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import SubprocVecEnv

NAME = "auction_env:auction_env/AuctionPoker-v0"


def main(steps: int = 4096) -> None:
    check_env(gymnasium.make(NAME, flat=True))
    envs = make_vec_env(NAME, 4, seed=0, env_kwargs={"flat": True}, vec_env_cls=SubprocVecEnv)
    masked = Monitor(ActionMasker(gymnasium.make(NAME, flat=True), "action_masks"))  # the wrapper is not needed
    stop = StopTrainingOnNoModelImprovement(max_no_improvement_evals=100)
    evaluate = MaskableEvalCallback(masked, eval_freq=256, n_eval_episodes=20, callback_after_eval=stop, verbose=0)
    model = MaskablePPO("MlpPolicy", envs, n_steps=256, batch_size=256, seed=0)
    model.learn(steps, callback=evaluate)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.zip")
        again = MaskablePPO.load(Path(folder) / "model.zip", env=envs)
    mean, error = evaluate_policy(again, masked, n_eval_episodes=50)
    print(
        f"{model.num_timesteps} steps in 4 processes, {evaluate.last_mean_reward:+.2f} at the last evaluation, "
        f"{mean:+.2f} ± {error / 50**0.5:.2f} chips a deal after loading"
    )
    envs.close()


if __name__ == "__main__":
    main()
